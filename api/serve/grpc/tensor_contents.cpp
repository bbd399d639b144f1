#include "stoker/api/serve/grpc/tensor_contents.hpp"

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"

namespace stoker::serve::grpc {
namespace {

using onnx::ElementType;
using protobuf::Wire;
using protocol::ExpectedTensor;
using protocol::refuse_input;

/// The field of the list for a type; 0: there is none.
std::uint32_t field_of(ElementType type) {
  switch (type) {
    case ElementType::boolean: return 1;
    case ElementType::s8:
    case ElementType::s16:
    case ElementType::s32: return 2;
    case ElementType::s64: return 3;
    case ElementType::u8:
    case ElementType::u16:
    case ElementType::u32: return 4;
    case ElementType::u64: return 5;
    case ElementType::f32: return 6;
    case ElementType::f64: return 7;
    case ElementType::string: return 8;
    default: return 0;
  }
}
constexpr std::uint32_t last_field = 8;

/// Bytes of an element as the message has it; 0 for integers, whose length varies, and strings.
std::size_t width_of(ElementType type) {
  return type == ElementType::f32 ? 4 : type == ElementType::f64 ? 8 : 0;
}

/// How many elements a field has.
std::uint64_t count(Wire& field, ElementType type) {
  if (const std::size_t width = width_of(type); width > 0) return field.fixed(width).size() / width;
  return type == ElementType::string ? 1 : field.count_integers();
}

/// The elements that all fields together have.
std::uint64_t count_all(Wire contents, const ExpectedTensor& tensor) {
  const std::uint32_t expected = field_of(tensor.type);
  std::uint64_t elements = 0;
  while (contents.next()) {
    if (contents.number() == expected)
      elements += count(contents, tensor.type);
    else if (contents.number() <= last_field)
      refuse_input(ErrorCode::dtype_mismatch, tensor.name,
                   "it is " + std::string{protocol::datatype_of(tensor.type)} +
                       ", and its contents are of another type");
  }
  return elements;
}

/// Calls `use` for each field of the tensor's list.
template <class Use> void each_field(Wire contents, ElementType type, Use&& use) {
  const std::uint32_t expected = field_of(type);
  while (contents.next())
    if (contents.number() == expected) use(contents);
}

template <class T>
void read_integers(const Wire& contents, const ExpectedTensor& tensor, std::byte* to) {
  each_field(contents, tensor.type, [&](Wire& field) {
    field.each_integer([&](std::uint64_t value) {
      T element{};
      if constexpr (std::is_signed_v<T>) {
        const auto given = static_cast<std::int64_t>(value);
        element = static_cast<T>(given);
        if (element != given)
          refuse_input(ErrorCode::invalid_argument, tensor.name,
                       std::to_string(given) + " is out of range");
      } else {
        element = static_cast<T>(value);
        if (element != value)
          refuse_input(ErrorCode::invalid_argument, tensor.name,
                       std::to_string(value) + " is out of range");
      }
      std::memcpy(to, &element, sizeof element);
      to += sizeof element;
    });
  });
}

void read_numbers(const Wire& contents, const ExpectedTensor& tensor, std::byte* to) {
  switch (tensor.type) {
    case ElementType::s8: return read_integers<std::int8_t>(contents, tensor, to);
    case ElementType::s16: return read_integers<std::int16_t>(contents, tensor, to);
    case ElementType::s32: return read_integers<std::int32_t>(contents, tensor, to);
    case ElementType::s64: return read_integers<std::int64_t>(contents, tensor, to);
    case ElementType::u8: return read_integers<std::uint8_t>(contents, tensor, to);
    case ElementType::u16: return read_integers<std::uint16_t>(contents, tensor, to);
    case ElementType::u32: return read_integers<std::uint32_t>(contents, tensor, to);
    case ElementType::u64: return read_integers<std::uint64_t>(contents, tensor, to);
    case ElementType::boolean:
      return each_field(contents, tensor.type, [&](Wire& field) {
        field.each_integer(
            [&](std::uint64_t value) { *to++ = value == 0 ? std::byte{0} : std::byte{1}; });
      });
    default:
      each_field(contents, tensor.type, [&](Wire& field) {
        const Wire::Bytes bytes = field.fixed(width_of(tensor.type));
        if (bytes.empty()) return;
        std::memcpy(to, bytes.data(), bytes.size());
        to += bytes.size();
      });
  }
}

onnx::Value read_strings(const Wire& contents, const ExpectedTensor& tensor,
                         protocol::RequestInputs& inputs) {
  const auto elements = static_cast<std::size_t>(tensor.shape.elements());
  inputs.spend(elements * sizeof(std::string));
  std::vector<std::string> strings;
  strings.reserve(elements);
  each_field(contents, tensor.type, [&](Wire& field) {
    const std::string_view text = field.text();
    inputs.spend(text.size());
    strings.emplace_back(text);
  });
  // Damage may end the walk early.
  strings.resize(elements);
  return inputs.texts(tensor, std::move(strings));
}

}  // namespace

bool has_no_elements(Wire contents) {
  while (contents.next())
    if (contents.number() <= last_field) return false;
  return true;
}

onnx::Value read_contents(std::span<const std::byte> message, protobuf::Progress& progress,
                          const ExpectedTensor& tensor, protocol::RequestInputs& inputs) {
  const Wire contents{message, progress};
  if (field_of(tensor.type) == 0)
    refuse_input(ErrorCode::invalid_argument, tensor.name,
                 std::string{protocol::datatype_of(tensor.type)} +
                     " has no list in contents; send it in raw_input_contents");
  const std::uint64_t came = count_all(contents, tensor);
  if (progress.stopped()) return {};
  const auto needed = static_cast<std::uint64_t>(tensor.shape.elements());
  if (came != needed)
    refuse_input(ErrorCode::shape_mismatch, tensor.name,
                 tensor.shape.to_string() + " has " + std::to_string(needed) +
                     " elements, contents have " + std::to_string(came));
  if (tensor.type == ElementType::string) return read_strings(contents, tensor, inputs);
  return inputs.made(
      tensor, [&](std::span<std::byte> into) { read_numbers(contents, tensor, into.data()); });
}

}  // namespace stoker::serve::grpc
