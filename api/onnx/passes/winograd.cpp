// Convolutions of 3 × 3 windows that meet every pixel are marked: the CPU's kernel computes them with fewer products.
#include <algorithm>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"

namespace stoker::onnx::passes::winograd {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Of the attribute, or of constant weights.
bool has_windows_of_3(const GraphEditor& graph, const Node& node) {
  const Numbers square{3, 3};
  if (const Numbers* const given = node.integers("kernel_shape")) return *given == square;
  const TensorData* const weights = graph.constant(node.inputs.at(1));
  return weights != nullptr && weights->dims.size() == 4 && weights->dims[2] == 3 &&
         weights->dims[3] == 3;
}

bool is_one_everywhere(const Node& node, const char* name) {
  const Numbers* const given = node.integers(name);
  return given == nullptr || std::ranges::all_of(*given, [](auto one) { return one == 1; });
}

void run(GraphEditor& graph) {
  if (graph.model().device != DeviceType::cpu) return;
  graph.each([&](Node& node) {
    if (!is(node, "Conv") || node.has("winograd") || node.integer("group", 1) != 1) return;
    if (has_windows_of_3(graph, node) && is_one_everywhere(node, "strides") &&
        is_one_everywhere(node, "dilations"))
      graph.set_attribute(node, "winograd", std::int64_t{1});
  });
}

}  // namespace

void define(PassTable& table) {
  table.add(
      {.name = "winograd",
       .summary =
           "on the CPU, Conv of 3 by 3 windows and stride 1 may be computed with fewer products",
       .level = Optimize::all,
       .stage = PassStage::weights,
       .run = &run});
}

}  // namespace stoker::onnx::passes::winograd
