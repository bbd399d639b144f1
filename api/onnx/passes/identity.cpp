// Nodes that give their operand: Identity, a sum or a maximum of one, a join of one.
#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::identity {
namespace {

constexpr auto of_one = std::to_array<std::string_view>({"Concat", "Max", "Min", "Sum", "Mean"});

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const bool gives_operand =
        is(node, "Identity") ||
        (node.inputs.size() == 1 &&
         std::ranges::any_of(of_one, [&](std::string_view op) { return is(node, op); }));
    if (gives_operand && node.has_input(0) && node.has_output(0))
      graph.forward(node, node.inputs[0]);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add(
      {.name = "identity",
       .summary =
           "Identity is removed, and so are Concat, Sum, Mean, Max and Min of a single operand",
       .run = &run});
}

}  // namespace stoker::onnx::passes::identity
