// Single nodes of constants, computed when a model is loaded, for the passes that fold them.
//
// Threads: any. The table outlives what is returned.
#pragma once

#include "stoker/api/device.hpp"
#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// By the operators' rules, on that device. Blocks until it has computed.
[[nodiscard]] Evaluate node_evaluation(const OperatorTable& operators, Device device);

}  // namespace stoker::onnx
