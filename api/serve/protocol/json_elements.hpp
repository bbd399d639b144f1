// The elements of a tensor in JSON: a flat list, or lists nested as its shape says; a scalar may stand alone.
//
// Pure functions; any thread. The reader stands before the value. Errors are thrown: invalid_argument for malformed
// JSON and numbers out of range, dtype_mismatch for elements of another type, shape_mismatch if they do not fill the
// shape; limit_exceeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/serve/protocol/json_reader.hpp"
#include "stoker/pipeline/onnx/graph/element_type.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::serve::protocol {

/// A tensor that is read, and what errors call it.
struct ExpectedTensor {
  std::string_view name;
  onnx::ElementType type = onnx::ElementType::undefined;
  Shape shape;
};

/// Refuses a tensor with more elements than the rest of the text can hold, before there is memory for them.
void check_text_for(const JsonReader& reader, const ExpectedTensor& tensor);

/// Numbers and booleans, as the type's carrier (onnx::carrier_of), which fill `into` exactly. Precondition: has_json().
void read_elements(JsonReader& reader, const ExpectedTensor& tensor, std::span<std::byte> into);

/// Strings of at most so many bytes together.
[[nodiscard]] std::vector<std::string> read_strings(JsonReader& reader,
                                                    const ExpectedTensor& tensor,
                                                    std::uint64_t most_bytes);

}  // namespace stoker::serve::protocol
