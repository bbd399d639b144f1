// (x - mean(x)) / sqrt(mean((x - mean(x))²) + ε) · scale + bias over the last axes.
// https://onnx.ai/onnx/operators/onnx__LayerNormalization.html
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"

namespace stoker::onnx::passes::layer_norm {
namespace {

/// The x of x - mean(x) over these axes.
std::optional<std::string> centered(const GraphEditor& graph, const Normalized& found) {
  const Node* const difference = graph.writer(found.deviation, "Sub");
  if (difference == nullptr) return {};
  const Node* const mean = graph.writer(difference->inputs.at(1), "ReduceMean");
  if (mean == nullptr || mean->inputs.at(0) != difference->inputs.at(0) ||
      kept_axes(graph, *mean) != found.axes)
    return {};
  return difference->inputs.at(0);
}

/// The Add of a constant over these axes that alone reads the scaled value.
struct Biased {
  Node* node = nullptr;
  std::string bias;
};
std::optional<Biased> biased(const GraphEditor& graph, const std::string& scaled,
                             std::size_t last_axes) {
  if (!graph.is_read_once(scaled)) return {};
  Node* const sum = graph.readers(scaled).front();
  if (!is(*sum, "Add") || sum->opset < 7) return {};
  const std::string& other = sum->inputs.at(sum->inputs.at(0) == scaled ? 1 : 0);
  const TensorData* const bias = graph.constant(other);
  if (bias == nullptr || bias->dims.size() != last_axes) return {};
  return Biased{sum, other};
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!node.has_output(0)) return;
    const auto found = normalized_by(graph, node);
    const auto x = found ? centered(graph, *found) : std::nullopt;
    if (!x) return;
    Node made = make_node("LayerNormalization", 17, {*x, found->scale},
                          {attribute("axis", -static_cast<std::int64_t>(found->last_axes)),
                           attribute("epsilon", static_cast<float>(found->epsilon))});
    const auto sum = biased(graph, node.outputs.at(0), found->last_axes);
    if (sum) made.inputs.push_back(sum->bias);
    graph.replace(sum ? *sum->node : node, std::move(made));
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "layer_norm",
             .summary = "layer normalization that is composed of other operators, with a constant "
                        "scale, becomes LayerNormalization",
             .level = Optimize::all,
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::layer_norm
