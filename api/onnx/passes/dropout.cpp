// Dropout outside of training, which gives its operand.
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::dropout {
namespace {

bool trains(const GraphEditor& graph, const Node& node) {
  if (node.opset < 7) return !node.flag("is_test", false);
  return node.has_input(2) && !is_scalar(graph, node.inputs[2], 0);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (is(node, "Dropout") && node.has_input(0) && node.has_output(0) && !trains(graph, node))
      graph.forward(node, node.inputs[0]);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "dropout",
             .summary = "a Dropout that does not train and whose mask is not read is removed",
             .run = &run});
}

}  // namespace stoker::onnx::passes::dropout
