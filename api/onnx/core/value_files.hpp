// Values as files hold them, and as runs take and give them.
//
// Any thread. Errors are thrown: limit_exceeded for more than 8 axes, unsupported for maps to anything but
// single numbers or texts.
#pragma once

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/value_data.hpp"

namespace stoker::onnx {

/// Tensors are known values over the same bytes.
[[nodiscard]] Value value_of(const ValueData& data);
/// Reads lazy tensors, and waits for them. `name` may be empty.
[[nodiscard]] ValueData data_of(const std::string& name, const Value& value);

}  // namespace stoker::onnx
