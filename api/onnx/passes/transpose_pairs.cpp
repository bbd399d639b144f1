// Transpositions of transpositions, and those that move no axis.
#include <algorithm>
#include <numeric>

#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::transpose_pairs {
namespace {

using Axes = std::vector<std::int64_t>;

bool is_permutation(const Axes& axes) {
  Axes sorted = axes;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

/// The axes; turned round where the node does not say, if the rank is known.
std::optional<Axes> axes_of(const Node& node, std::optional<std::size_t> rank) {
  if (const auto* given = node.integers("perm")) {
    if (!is_permutation(*given)) return {};
    return *given;
  }
  if (!rank) return {};
  Axes axes(*rank);
  std::iota(axes.rbegin(), axes.rend(), 0);
  return axes;
}

/// Whether a run refuses it: its axes are not those of its operand.
bool is_refused(const GraphEditor& graph, const Node& node) {
  const auto rank = graph.rank_of(node.inputs[0]);
  const auto* const axes = node.integers("perm");
  return axes != nullptr && rank && axes->size() != *rank;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!is(node, "Transpose") || !node.has_input(0) || !node.has_output(0)) return;
    if (is_refused(graph, node)) return;
    const auto rank_by = [](const Axes* axes) {
      return axes == nullptr ? std::nullopt : std::optional{axes->size()};
    };
    if (Node* const inner = graph.writer(node.inputs[0], "Transpose");
        inner != nullptr && inner->has_input(0) && !is_refused(graph, *inner)) {
      const std::string x = inner->inputs[0];
      if (!node.has("perm") && !inner->has("perm")) {
        graph.forward(node, x);
        return;
      }
      const auto second = axes_of(node, rank_by(inner->integers("perm")));
      const auto first = axes_of(*inner, rank_by(node.integers("perm")));
      if (first && second && first->size() == second->size()) {
        Axes both;
        for (const std::int64_t axis : *second)
          both.push_back((*first)[static_cast<std::size_t>(axis)]);
        graph.set_input(node, 0, x);
        graph.set_attribute(node, "perm", both);
      }
    }
    if (const auto* axes = node.integers("perm");
        axes != nullptr && is_permutation(*axes) && std::ranges::is_sorted(*axes))
      graph.forward(node, node.inputs[0]);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "transpose_pairs",
             .summary = "two Transpose nodes, one after the other, become one; a Transpose that "
                        "moves no axis is removed",
             .run = &run});
}

}  // namespace stoker::onnx::passes::transpose_pairs
