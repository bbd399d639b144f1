#include "stoker/pipeline/onnx/graph/tensor_data.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 58U;
/// Far more than any operator takes. Errors show them all.
constexpr std::size_t most_dims = 64;

bool is_signed_integer(ElementType type) noexcept {
  return type == ElementType::s4 || type == ElementType::s2;
}

}  // namespace

SharedBytes SharedBytes::own(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view{*owner};
  return {view, std::move(owner)};
}

Result<std::uint64_t> try_element_count(std::span<const std::int64_t> dims) {
  const auto refused = [](std::string why) {
    return Error{"onnx", ErrorCode::invalid_argument, std::move(why)};
  };
  if (dims.size() > most_dims)
    return refused("it has " + std::to_string(dims.size()) + " dimensions, at most " +
                   std::to_string(most_dims) + " are read");
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : dims) {
    if (extent < 0) return refused("a dimension is " + std::to_string(extent));
    const auto factor = static_cast<std::uint64_t>(extent);
    empty = empty || factor == 0;
    if (factor > most_elements / count)
      return refused("the dimensions give more than 2^58 elements");
    count *= std::max<std::uint64_t>(factor, 1);
  }
  return empty ? 0 : count;
}

std::uint64_t byte_count(ElementType type, std::uint64_t elements) noexcept {
  const std::uint64_t bits = bits_of(type);
  return is_packed(type) ? (elements * bits + 7) / 8 : elements * (bits / 8);
}

std::size_t TensorData::elements() const noexcept {
  std::size_t count = 1;
  for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
  return count;
}

std::string TensorData::to_string() const {
  std::string text{onnx::to_string(type)};
  for (std::size_t i = 0; i < dims.size(); ++i)
    text.append(i == 0 ? "[" : ",").append(std::to_string(dims[i]));
  return text + (dims.empty() ? "[]" : "]");
}

SharedBytes carried_bytes(const TensorData& tensor) {
  if (!is_packed(tensor.type)) return tensor.bytes;
  const std::size_t bits = bits_of(tensor.type);
  const std::size_t in_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1;
  const unsigned sign = is_signed_integer(tensor.type) ? 1U << (bits - 1) : 0;
  std::vector<std::byte> carried(tensor.elements());
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const unsigned packed = std::to_integer<unsigned>(tensor.bytes.view[i / in_byte]);
    const unsigned value = packed >> (i % in_byte * bits) & mask;
    carried[i] = static_cast<std::byte>((value ^ sign) - sign);
  }
  return SharedBytes::own(std::move(carried));
}

std::vector<std::byte> packed_bytes(ElementType type, std::span<const std::byte> carried) {
  if (!is_packed(type)) return {carried.begin(), carried.end()};
  const std::size_t bits = bits_of(type);
  const std::size_t in_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1;
  std::vector<std::byte> packed(byte_count(type, carried.size()));
  for (std::size_t i = 0; i < carried.size(); ++i)
    packed[i / in_byte] |= static_cast<std::byte>((std::to_integer<unsigned>(carried[i]) & mask)
                                                  << (i % in_byte * bits));
  return packed;
}

}  // namespace stoker::onnx
