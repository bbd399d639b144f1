// Rewrites a model's graph by passes before it is prepared.
//
// Threads: any. Errors: none of its own. A graph with an attribute of the wrong kind is not changed.
#pragma once

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

/// The model after the passes, which are also applied to subgraphs. Returns the same file if they change nothing, or if
/// `operators` replaces Stoker's rule for an operator of ONNX's own domain that the model uses, because passes rely on
/// Stoker's rules. Weights that no pass changes stay in the mapped file. An initializer that is an input counts as a
/// constant: a run that gives this input needs the graph as it was read. `device`: the kind of device that the model
/// runs on, because some rewrites pay only on some kinds. Precondition: all nodes can be computed with `operators`.
[[nodiscard]] std::shared_ptr<const ModelFile> optimized(std::shared_ptr<const ModelFile> file,
                                                         std::span<const Pass* const> passes,
                                                         const OperatorTable& operators,
                                                         Evaluate evaluate,
                                                         DeviceType device = DeviceType::cpu);

}  // namespace stoker::onnx
