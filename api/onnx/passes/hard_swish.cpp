// x · clip(x + 3, 0, 6) / 6. https://onnx.ai/onnx/operators/onnx__HardSwish.html
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"
#include "stoker/api/onnx/types/type_set.hpp"

namespace stoker::onnx::passes::hard_swish {
namespace {

/// z, if `name` is clip(z, 0, 6).
std::optional<std::string> clipped(const GraphEditor& graph, const std::string& name) {
  if (const Node* const clip = private_writer(graph, name, "Clip")) {
    const auto bounds = clip_bounds(graph, *clip);
    if (!bounds || bounds->least != 0 || bounds->most != 6) return {};
    return clip->inputs[0];
  }
  const Node* const least = private_writer(graph, name, "Min");
  if (least == nullptr || least->inputs.size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const TensorData* const six = graph.constant(least->inputs[i]);
    if (six == nullptr || !float_types.contains(six->type) ||
        !is_scalar(graph, least->inputs[i], 6))
      continue;  // Relu and Min take integers, too
    if (const Node* const relu = private_writer(graph, least->inputs[1 - i], "Relu"))
      return relu->inputs[0];
  }
  return {};
}

/// Whether `name` is clip(x + 3, 0, 6).
bool is_clipped(const GraphEditor& graph, const std::string& name, const std::string& x) {
  const auto shifted = clipped(graph, name);
  const Node* const sum = shifted ? private_writer(graph, *shifted, "Add") : nullptr;
  return sum != nullptr && beside_sum(graph, *sum, 3) == x;
}

/// Whether `name` is clip(x / 6 + 1/2, 0, 1).
bool is_hard_sigmoid(const GraphEditor& graph, const std::string& name, const std::string& x) {
  const Node* const node = private_writer(graph, name, "HardSigmoid");
  // Its numbers are f32, whatever x is.
  return node != nullptr && node->inputs[0] == x && graph.type_of(x) != ElementType::f64 &&
         is_near(static_cast<double>(node->real("alpha", 0.2F)), 1.0 / 6) &&
         node->real("beta", 0.5F) == 0.5F;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const Product product = product_of(graph, node);
    if (product.factors.size() != 2) return;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& x = product.factors[i];
      const std::string& other = product.factors[1 - i];
      if ((is_near(product.number, 1.0 / 6) && is_clipped(graph, other, x)) ||
          (product.number == 1 && is_hard_sigmoid(graph, other, x))) {
        graph.replace(node, make_node("HardSwish", 14, {x}));
        return;
      }
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "hard_swish",
             .summary = "x · clip(x + 3, 0, 6) / 6 becomes HardSwish, also if it is composed with "
                        "Relu and Min or with HardSigmoid",
             .level = Optimize::all,
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::hard_swish
