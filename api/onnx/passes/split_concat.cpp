// A join of all parts of a Split, in order and along the same axis.
#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::split_concat {
namespace {

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!is(node, "Concat") || node.inputs.size() < 2 || !node.has_output(0)) return;
    Node* const split = graph.writer(node.inputs[0], "Split");
    // Before version 4 the axis of Concat was 1 where it said none.
    if (split == nullptr || !split->has_input(0) || node.opset < 4) return;
    if (split->outputs != node.inputs || split->integer("axis", 0) != node.integer("axis", 0))
      return;
    graph.forward(node, std::string{split->inputs[0]});
  });
}

}  // namespace

void define(PassTable& table) {
  table.add(
      {.name = "split_concat",
       .summary =
           "a Concat of all parts of a Split, along its axis and in their order, is what was split",
       .run = &run});
}

}  // namespace stoker::onnx::passes::split_concat
