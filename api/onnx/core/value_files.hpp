// Converts values between files and runs.
//
// Any thread. Errors are thrown: limit_exceeded for more than 8 axes, unsupported for maps whose values
// are not single numbers or texts.
#pragma once

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/value_data.hpp"

namespace stoker::onnx {

/// Tensors become known values that share the bytes.
[[nodiscard]] Value value_of(const ValueData& data);
/// Reads lazy tensors, and waits for them. `name` may be empty.
[[nodiscard]] ValueData data_of(const std::string& name, const Value& value);

}  // namespace stoker::onnx
