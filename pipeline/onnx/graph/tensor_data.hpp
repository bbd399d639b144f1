// The elements of a tensor as stored in a file: initializers, attributes, the values of test cases.
//
// A value; copies share the bytes. Threads: immutable bytes, so any thread may read any copy.
// Units: dims in elements, bytes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/onnx/graph/element_type.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::onnx {

/// Constant bytes and the owner that keeps them alive: a mapped file, a vector. Without an owner,
/// the code that provided them must keep them alive.
struct SharedBytes {
  std::span<const std::byte> view;
  std::shared_ptr<const void> owner;

  /// Bytes that own their memory.
  [[nodiscard]] static SharedBytes own(std::vector<std::byte> bytes);
};

struct TensorData {
  ElementType type = ElementType::undefined;
  std::vector<std::int64_t> dims;  ///< each ≥ 0; empty: a scalar
  /// The elements, row-major and little-endian, packed if is_packed(type). Their length is
  /// byte_count(). Not aligned: read them by memcpy. Empty for strings.
  SharedBytes bytes;
  std::vector<std::string> strings;  ///< for ElementType::string only; any bytes, usually UTF-8

  [[nodiscard]] std::size_t elements() const noexcept;
  /// "float[2,3]".
  [[nodiscard]] std::string to_string() const;
};

/// The product of the dims. Fails for a negative one, more than 64 of them, or more than 2^58
/// elements.
[[nodiscard]] Result<std::uint64_t> try_element_count(std::span<const std::int64_t> dims);
/// Bytes of that many elements in a file. Precondition: elements ≤ 2^58.
[[nodiscard]] std::uint64_t byte_count(ElementType type, std::uint64_t elements) noexcept;

/// The elements in the dtype carrier_of(type). Packed elements get one byte each, with signs
/// extended; the bytes of other types are shared unchanged. Precondition: not strings.
[[nodiscard]] SharedBytes carried_bytes(const TensorData& tensor);
/// The reverse: `carried` holds `elements` elements of the carrier.
[[nodiscard]] std::vector<std::byte> packed_bytes(ElementType type,
                                                  std::span<const std::byte> carried);

}  // namespace stoker::onnx
