// Computes single nodes of constants when a model is loaded, for the passes that fold them.
//
// Threads: any. The table must outlive the returned function.
#pragma once

#include "stoker/api/device.hpp"
#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// Computes by the operators' rules on that device. The returned function blocks until the results
/// are computed.
[[nodiscard]] Evaluate node_evaluation(const OperatorTable& operators, Device device);

}  // namespace stoker::onnx
