#include "stoker/api/serve/protocol/binary_elements.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker::serve::protocol {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they are");

using Length = std::uint32_t;

[[noreturn]] void refuse_bytes(const ExpectedTensor& tensor, const std::string& why) {
  refuse(ErrorCode::invalid_argument, "input " + in_quotes(tensor.name) + ": " + why);
}

}  // namespace

void check_bytes_for(const ExpectedTensor& tensor, std::span<const std::byte> bytes) {
  const auto elements = static_cast<std::uint64_t>(tensor.shape.elements());
  const std::string shown = std::string{datatype_of(tensor.type)} + " " + tensor.shape.to_string();
  if (tensor.type == onnx::ElementType::string) {
    if (elements > bytes.size() / sizeof(Length))
      refuse_bytes(tensor, shown + " needs " + std::to_string(sizeof(Length)) +
                               " bytes and more for each element, binary_data_size is " +
                               std::to_string(bytes.size()));
    return;
  }
  const std::uint64_t needed = elements * size_of(*onnx::carrier_of(tensor.type));
  if (needed != bytes.size())
    refuse_bytes(tensor, shown + " needs " + std::to_string(needed) +
                             " bytes, binary_data_size is " + std::to_string(bytes.size()));
}

void read_binary(const ExpectedTensor& tensor, std::span<const std::byte> bytes,
                 std::span<std::byte> into) {
  if (bytes.empty()) return;
  std::memcpy(into.data(), bytes.data(), bytes.size());
  if (tensor.type != onnx::ElementType::boolean) return;
  const auto other = std::ranges::find_if(into, [](std::byte b) { return b > std::byte{1}; });
  if (other != into.end())
    refuse_bytes(tensor, "element " + std::to_string(other - into.begin()) + " is " +
                             std::to_string(std::to_integer<int>(*other)) +
                             ", an element of BOOL is 0 or 1");
}

std::vector<std::string> read_binary_strings(const ExpectedTensor& tensor,
                                             std::span<const std::byte> bytes) {
  std::vector<std::string> strings(static_cast<std::size_t>(tensor.shape.elements()));
  for (std::size_t i = 0; i < strings.size(); ++i) {
    Length length = 0;
    const bool has_length = bytes.size() >= sizeof length;
    if (has_length) {
      std::memcpy(&length, bytes.data(), sizeof length);
      bytes = bytes.subspan(sizeof length);
    }
    if (!has_length || length > bytes.size())
      refuse_bytes(tensor, "element " + std::to_string(i) + " reaches beyond binary_data_size");
    strings[i].assign(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length);
  }
  if (!bytes.empty())
    refuse_bytes(tensor, std::to_string(bytes.size()) + " bytes follow its last element");
  return strings;
}

void append_binary_strings(std::string& body, std::span<const std::string> strings) {
  for (const std::string& one : strings) {
    if (one.size() > std::numeric_limits<Length>::max())
      refuse(ErrorCode::unsupported, "a string has 4 GiB or more");
    const auto length = static_cast<Length>(one.size());
    body.append(reinterpret_cast<const char*>(&length), sizeof length);
    body += one;
  }
}

}  // namespace stoker::serve::protocol
