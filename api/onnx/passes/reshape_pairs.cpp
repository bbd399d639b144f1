// Shapes that are given twice: the last one counts.
#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::reshape_pairs {
namespace {

constexpr auto shapes =
    std::to_array<std::string_view>({"Reshape", "Flatten", "Squeeze", "Unsqueeze"});

/// The axes of Squeeze and Unsqueeze, which are an operand since version 13.
std::optional<std::vector<std::int64_t>> axes_of(const GraphEditor& graph, const Node& node) {
  if (node.has_input(1)) return integers_of(graph.constant(node.inputs[1]));
  if (const auto* axes = node.integers("axes")) return *axes;
  return {};
}

/// Whether it gives this shape whatever shape of as many elements it gets.
bool says_shape(const GraphEditor& graph, const Node& node) {
  if (!is(node, "Reshape")) return false;
  const auto shape = node.has_input(1)   ? integers_of(graph.constant(node.inputs[1]))
                     : node.has("shape") ? std::optional{*node.integers("shape")}
                                         : std::nullopt;
  // A 0 is the extent that the operand has there.
  return shape && std::ranges::all_of(*shape, [](std::int64_t extent) { return extent != 0; });
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!node.has_input(0) || !node.has_output(0)) return;
    Node* const inner = graph.writer(node.inputs[0]);
    if (inner == nullptr || !inner->has_input(0)) return;
    if (is(node, "Squeeze") && is(*inner, "Unsqueeze")) {
      // The other way round, Squeeze checks that the extents are 1.
      const auto axes = axes_of(graph, node);
      if (axes && axes == axes_of(graph, *inner))
        graph.forward(node, std::string{inner->inputs[0]});
      return;
    }
    if (says_shape(graph, node) &&
        std::ranges::any_of(shapes, [&](std::string_view op) { return is(*inner, op); }))
      graph.set_input(node, 0, std::string{inner->inputs[0]});
  });
}

}  // namespace

void define(PassTable& table) {
  table.add(
      {.name = "reshape_pairs",
       .summary =
           "Reshape, Flatten, Squeeze and Unsqueeze before a Reshape to a constant shape are "
           "removed; a Squeeze that undoes the Unsqueeze before it is removed together with it",
       .run = &run});
}

}  // namespace stoker::onnx::passes::reshape_pairs
