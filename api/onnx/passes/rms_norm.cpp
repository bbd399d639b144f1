// x / sqrt(mean(x²) + ε) · scale over the last axes.
// https://onnx.ai/onnx/operators/onnx__RMSNormalization.html
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"

namespace stoker::onnx::passes::rms_norm {
namespace {

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const auto found = normalized_by(graph, node);
    // Layer normalization takes the mean off before.
    if (!found || graph.writer(found->deviation, "Sub") != nullptr) return;
    graph.replace(node, make_node("RMSNormalization", 23, {found->deviation, found->scale},
                                  {attribute("axis", -static_cast<std::int64_t>(found->last_axes)),
                                   attribute("epsilon", static_cast<float>(found->epsilon))}));
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "rms_norm",
             .summary = "RMS normalization that is composed of other operators, with a constant "
                        "scale, becomes RMSNormalization",
             .level = Optimize::all,
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::rms_norm
