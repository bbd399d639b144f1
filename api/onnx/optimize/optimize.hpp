// A model's graph, rewritten by passes before it is prepared.
//
// Threads: any. Errors: none of its own. A graph with an attribute of another kind than its operator's stays as it is.
#pragma once

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

/// The same model with the passes applied, to subgraphs, too; the same file if they change nothing, or if `operators`
/// gives an operator of ONNX's own domain in it another rule than Stoker's, for passes know these only. Weights that no
/// pass changes stay in the mapped file. An initializer that is an input counts as a constant: a run that gives this
/// input needs the graph as it was read. `device` is the kind of device that the model runs on, for some
/// rewrites pay on some kinds only. Precondition: all nodes can be computed with `operators`.
[[nodiscard]] std::shared_ptr<const ModelFile> optimized(std::shared_ptr<const ModelFile> file,
                                                         std::span<const Pass* const> passes,
                                                         const OperatorTable& operators,
                                                         Evaluate evaluate,
                                                         DeviceType device = DeviceType::cpu);

}  // namespace stoker::onnx
