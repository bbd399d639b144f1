// Relu and Clip of one another: one Clip, or one Relu.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::relu_clip {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The operand that is this bound already, or a new one; none where there is no bound.
std::string bound_name(GraphEditor& graph, std::initializer_list<const Node*> nodes,
                       std::size_t index, double bound, ElementType type) {
  if (bound == (index == 1 ? -infinity : infinity)) return {};
  for (const Node* const node : nodes)
    if (is(*node, "Clip") && node->has_input(index) &&
        scalar_of(graph, node->inputs[index]) == bound)
      return node->inputs[index];
  return graph.add_constant(nodes.begin()[0]->outputs[0], tensor_of({&bound, 1}, {}, type));
}

/// The values that come through both, one after the other, are those between the inner bounds and then the outer ones,
/// as long as these leave some.
void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!node.has_input(0) || !node.has_output(0)) return;
    Node* const inner = graph.writer(node.inputs[0]);
    if (inner == nullptr || !inner->has_input(0)) return;
    const auto first = clip_bounds(graph, *inner);
    const auto second = clip_bounds(graph, node);
    if (!first || !second) return;
    const double least = std::max(first->least, second->least);
    const double most = std::min(first->most, second->most);
    if (!(least <= most)) return;
    const std::string x = inner->inputs[0];
    if (least == second->least && most == second->most) {
      graph.set_input(node, 0, x);
    } else if (least == first->least && most == first->most && graph.is_read_once(node.inputs[0])) {
      graph.forward(node, std::string{node.inputs[0]});
    } else {
      const ElementType type = first->type != ElementType::undefined ? first->type : second->type;
      Node clip = make_node("Clip", std::max(node.opset, inner->opset), {x});
      const bool has_attributes = clip.opset < 11;
      if (!has_attributes &&
          (type == ElementType::undefined || std::min(node.opset, inner->opset) < 11))
        return;
      if (has_attributes) {
        if (least != -infinity)
          clip.attributes.push_back(attribute("min", static_cast<float>(least)));
        if (most != infinity) clip.attributes.push_back(attribute("max", static_cast<float>(most)));
      } else {
        clip.inputs.push_back(bound_name(graph, {&node, inner}, 1, least, type));
        clip.inputs.push_back(bound_name(graph, {&node, inner}, 2, most, type));
      }
      graph.replace(node, std::move(clip));
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "relu_clip",
             .summary = "two Relu or Clip nodes, one after the other, become one",
             .run = &run});
}

}  // namespace stoker::onnx::passes::relu_clip
