// A Concat of all parts of a Split, in order and along the same axis, and a Split of a Concat into its operands.
#include <algorithm>
#include <functional>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"

namespace stoker::onnx::passes::split_concat {
namespace {

/// Version 1 of Concat may leave its axis out, and the rule takes 1 for any that does.
std::int64_t join_axis(const Node& node) { return node.integer("axis", 1); }

/// A join gives way to what was split.
void join(GraphEditor& graph, Node& node) {
  if (node.inputs.size() < 2 || !node.has_output(0)) return;
  Node* const split = graph.writer(node.inputs[0], "Split");
  if (split == nullptr || !split->has_input(0)) return;
  if (split->outputs != node.inputs || split->integer("axis", 0) != join_axis(node)) return;
  graph.forward(node, std::string{split->inputs[0]});
}

/// Whether the node says how long its parts are; otherwise they are equal.
bool says_sizes(const Node& node) { return node.has_input(1) || node.has("split"); }

/// The parts of a split give way to the operands of the join before it, if it is certain that each is as long as its
/// operand.
void split(GraphEditor& graph, Node& node) {
  if (!node.has_input(0)) return;
  const Node* const join = graph.writer(node.inputs[0], "Concat");
  const std::int64_t axis = node.integer("axis", 0);
  const auto count = static_cast<std::int64_t>(node.outputs.size());
  if (join == nullptr || join->inputs.size() != node.outputs.size() || join_axis(*join) != axis)
    return;
  // The names of the graph's outputs, and what its bodies read, stay as they are.
  if (std::ranges::any_of(node.outputs, [&](const auto& name) { return graph.is_pinned(name); }))
    return;
  std::vector<std::int64_t> extents;
  for (const std::string& part : join->inputs) {
    const auto extent = graph.extent_of(part, axis);
    if (!extent) return;
    extents.push_back(*extent);
  }
  const bool is_same = says_sizes(node) ? part_sizes(graph, node) == extents
                                        : std::ranges::adjacent_find(
                                              extents, std::not_equal_to{}) == extents.end() &&
                                              node.integer("num_outputs", count) == count;
  if (!is_same) return;
  const std::vector<std::string> parts = node.outputs;
  const std::vector<std::string> joined = join->inputs;
  graph.remove(node);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].empty()) graph.move_reads(parts[i], joined[i]);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (is(node, "Concat")) join(graph, node);
    if (is(node, "Split")) split(graph, node);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "split_concat",
             .summary =
                 "a Concat that joins all parts of a Split in their order is replaced by what was "
                 "split; a Split that undoes a Concat is replaced by the operands of the Concat",
             .run = &run});
}

}  // namespace stoker::onnx::passes::split_concat
