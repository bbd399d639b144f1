// Values as files hold them, for runs.
//
// Pure functions; any thread. Errors are thrown: limit_exceeded for more than 8 axes, unsupported for maps.
#pragma once

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/value_data.hpp"

namespace stoker::onnx {

/// Tensors are known values over the same bytes.
[[nodiscard]] Value value_of(const ValueData& data);

}  // namespace stoker::onnx
