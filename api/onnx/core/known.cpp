#include "stoker/api/onnx/core/known.hpp"

#include <cstring>
#include <mutex>
#include <optional>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/pipeline/onnx/graph/file_bytes.hpp"
#include "stoker/pipeline/tensor/files/transfer.hpp"

namespace stoker::onnx {
namespace {

DType carrier(ElementType type) {
  if (const auto dtype = carrier_of(type)) return *dtype;
  throw Error{"onnx", ErrorCode::unsupported,
              "no tensor holds elements of the type " + std::string{to_string(type)}};
}

template <class N> std::vector<std::byte> converted(std::span<const N> values, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      T one;
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        one = T{static_cast<float>(values[i])};
      else if constexpr (std::is_same_v<T, bool>)
        one = values[i] != 0;
      else
        one = static_cast<T>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
    }
    return bytes;
  });
}

template <class N>
std::vector<N> read_as(std::span<const std::byte> bytes, DType dtype, std::size_t count) {
  return visit_dtype(dtype, [&]<class T>() {
    std::vector<N> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      T one;
      std::memcpy(&one, bytes.data() + i * sizeof(T), sizeof(T));
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        values[i] = static_cast<N>(static_cast<float>(one));
      else
        values[i] = static_cast<N>(one);
    }
    return values;
  });
}

/// Below this a page or two of the file do not matter.
constexpr std::size_t large_bytes = std::size_t{1} << 20;

/// A buffer of `device` with the bytes. Pages of a file go as they are copied.
Tensor copied(DeviceClient& device, const TensorSpec& spec, const SharedBytes& bytes) {
  const files::ByteSource* const file = file_of(bytes);
  if (file == nullptr || spec.bytes() < large_bytes)
    return Tensor{Buffer{device.make_buffer(spec, bytes.view).value()}};
  if (!device.info().host_addressable) {
    const auto begin = static_cast<std::uint64_t>(bytes.view.data() - file->view().data());
    const auto forget = [&](std::size_t offset, std::size_t size) {
      file->forget(begin + offset, size);
    };
    return Tensor{Buffer{files::send(device, spec, bytes.view, forget).value()}};
  }
  const auto pull = [&](std::span<std::byte> target) -> Result<void> {
    copy_and_forget(bytes, *file, target);
    return {};
  };
  return Tensor{Buffer{files::upload(device, spec, pull).value()}};
}

}  // namespace

struct Known::State {
  ElementType type = ElementType::f32;
  TensorSpec spec;
  SharedBytes bytes;                 // guarded by `unpacks` if there are packed ones
  std::optional<TensorData> packed;  ///< as in the file, if elements are of less than a byte
  std::once_flag unpacks;
  std::mutex mutex;
  std::shared_ptr<DeviceClient> client;  // guarded by mutex: whose memory `copy` is
  Tensor copy;                           // guarded by mutex
};

Known::Known() : Known{ElementType::f32, Shape{0}, {}} {}

Known::Known(ElementType type, const Shape& shape, std::vector<std::byte> carried)
    : state_{std::make_shared<State>()} {
  state_->type = type;
  state_->spec = {carrier(type), shape};
  if (carried.size() != state_->spec.bytes())
    throw Error{"onnx", ErrorCode::invalid_argument,
                std::to_string(carried.size()) + " bytes for " + state_->spec.to_string()};
  state_->bytes = SharedBytes::own(std::move(carried));
}

Known::Known(const TensorData& data) : state_{std::make_shared<State>()} {
  state_->type = data.type;
  if (data.dims.size() > Shape::max_rank)
    throw Error{"onnx", ErrorCode::limit_exceeded,
                data.to_string() + " has more than " + std::to_string(Shape::max_rank) + " axes"};
  state_->spec = {carrier(data.type), Shape::make(data.dims, "onnx")};
  if (is_packed(data.type))
    state_->packed = data;
  else
    state_->bytes = data.bytes;
}

Known Known::integers(std::span<const std::int64_t> values, const Shape& shape, ElementType type) {
  return {type, shape, converted(values, carrier(type))};
}

Known Known::integers(std::span<const std::int64_t> values) {
  return integers(values, Shape{static_cast<std::int64_t>(values.size())});
}

Known Known::integer(std::int64_t value, ElementType type) {
  return integers({&value, 1}, Shape{}, type);
}

Known Known::reals(std::span<const double> values, const Shape& shape, ElementType type) {
  return {type, shape, converted(values, carrier(type))};
}

ElementType Known::type() const noexcept { return state_->type; }
const TensorSpec& Known::spec() const noexcept { return state_->spec; }

std::span<const std::byte> Known::bytes() const {
  if (state_->packed)
    std::call_once(state_->unpacks, [&] { state_->bytes = carried_bytes(*state_->packed); });
  return state_->bytes.view;
}

SharedBytes Known::packed() const {
  if (state_->packed) return state_->packed->bytes;
  return is_packed(type()) ? SharedBytes::own(packed_bytes(type(), bytes())) : state_->bytes;
}

bool Known::holds_integers() const noexcept { return is_integer(spec().dtype); }

std::vector<std::int64_t> Known::to_integers() const {
  if (!holds_integers())
    throw Error{"onnx", ErrorCode::dtype_mismatch,
                "expected integers, got " + std::string{to_string(type())} + shape().to_string()};
  return read_as<std::int64_t>(bytes(), spec().dtype, elements());
}

std::vector<double> Known::to_reals() const {
  if (is_complex(spec().dtype))
    throw Error{"onnx", ErrorCode::dtype_mismatch, "expected real numbers, got complex ones"};
  return read_as<double>(bytes(), spec().dtype, elements());
}

Known Known::taken(std::span<const std::int64_t> positions, const Shape& shape) const {
  const std::size_t each = size_of(spec().dtype);
  const auto count = static_cast<std::int64_t>(elements());
  for (const std::int64_t position : positions)
    if (position < 0 || position >= count)
      throw Error{
          "onnx", ErrorCode::invalid_argument,
          "position " + std::to_string(position) + " of " + std::to_string(count) + " elements"};
  std::vector<std::byte> moved(positions.size() * each);
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::memcpy(moved.data() + i * each,
                bytes().data() + static_cast<std::size_t>(positions[i]) * each, each);
  return {type(), shape, std::move(moved)};
}

Known Known::reshaped(const Shape& shape) const {
  return {type(), shape, {bytes().begin(), bytes().end()}};
}

Tensor Known::tensor() const {
  // A number is a part of the program, where it fuses.
  if (elements() == 1 && !is_complex(spec().dtype)) {
    if (spec().dtype == DType::u64)
      return full(shape(), static_cast<std::uint64_t>(to_integers()[0]), spec().dtype);
    if (holds_integers()) return full(shape(), to_integers()[0], spec().dtype);
    return full(shape(), to_reals()[0], spec().dtype);
  }
  std::shared_ptr<DeviceClient> client = current_device().client();
  const std::scoped_lock lock{state_->mutex};
  if (state_->client != client || client->is_lost()) {
    // What is unpacked for the device only does not stay here.
    state_->copy =
        copied(*client, spec(), state_->packed ? carried_bytes(*state_->packed) : state_->bytes);
    state_->client = std::move(client);
  }
  return state_->copy;
}

Tensor Known::copy() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->client && !state_->client->is_lost() ? state_->copy : Tensor{};
}

}  // namespace stoker::onnx
