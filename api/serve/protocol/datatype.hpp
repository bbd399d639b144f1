// The datatypes of the Open Inference Protocol, and which declarations of models it can express.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/pipeline/onnx/graph/value_type.hpp"

namespace stoker::serve::protocol {

/// "FP32", "BYTES", …; empty for types that the protocol does not have.
[[nodiscard]] std::string_view datatype_of(onnx::ElementType type) noexcept;
/// Nothing if no datatype has that name.
[[nodiscard]] std::optional<onnx::ElementType> parse_datatype(std::string_view name) noexcept;
/// "'FLOAT32' is none of BOOL, …; did you mean 'FP32'?"
[[nodiscard]] std::string unknown_datatype(std::string_view name);

/// Whether tensors of the type have a form in JSON.
[[nodiscard]] inline bool has_json(onnx::ElementType type) noexcept {
  return type != onnx::ElementType::f16 && type != onnx::ElementType::bf16;
}

/// The tensor that a declared value is or may have; null for sequences, maps and the like. A value of unknown kind may
/// be a tensor.
[[nodiscard]] const onnx::ValueType* tensor_of(const onnx::ValueType& declared) noexcept;
/// "[-1,3]"; "[-1]" for any rank.
[[nodiscard]] std::string declared_shape(const onnx::ValueType& tensor);
/// "FP32 [-1,3]"
[[nodiscard]] std::string declared_tensor(const onnx::ValueType& tensor);

}  // namespace stoker::serve::protocol
