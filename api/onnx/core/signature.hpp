// Signatures of values; values with different signatures need different plans. A signature has kinds, types and
// extents, and the elements that the host knows.
#pragma once

#include <span>
#include <string>

#include "stoker/api/onnx/core/value.hpp"

namespace stoker::onnx {

/// Appends a fixed number of bytes, so that no separator is needed.
template <class N> void add_number(N number, std::string& text) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}
/// Waits for values that are to come.
[[nodiscard]] std::string signature_of(std::span<const Value> values);
[[nodiscard]] std::string as_key(std::span<const std::byte> bytes);

}  // namespace stoker::onnx
