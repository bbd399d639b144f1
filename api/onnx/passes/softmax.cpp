// exp(x) over its sum along an axis, with or without the largest x taken off before.
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"

namespace stoker::onnx::passes::softmax {
namespace {

/// What is divided by what.
struct Quotient {
  std::string upper, lower;
};
std::optional<Quotient> quotient_of(const GraphEditor& graph, const Node& node) {
  if (is(node, "Div")) return Quotient{node.inputs.at(0), node.inputs.at(1)};
  if (!is(node, "Mul")) return {};
  for (std::size_t i = 0; i < 2; ++i)
    if (const Node* const one = private_writer(graph, node.inputs.at(i), "Reciprocal"))
      return Quotient{node.inputs.at(1 - i), one->inputs.at(0)};
  return {};
}

/// The x of x - max(x) along the axes; else what is given.
std::string before_shift(const GraphEditor& graph, const std::string& name,
                         const std::vector<std::int64_t>& axes) {
  const Node* const difference = private_writer(graph, name, "Sub");
  if (difference == nullptr) return name;
  const Node* const largest = graph.writer(difference->inputs.at(1), "ReduceMax");
  if (largest == nullptr || largest->inputs.at(0) != difference->inputs.at(0) ||
      kept_axes(graph, *largest) != axes)
    return name;
  return difference->inputs.at(0);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const auto quotient = quotient_of(graph, node);
    if (!quotient) return;
    const Node* const sum = private_writer(graph, quotient->lower, "ReduceSum");
    const Node* const exp = graph.writer(quotient->upper, "Exp");
    if (sum == nullptr || exp == nullptr || sum->inputs.at(0) != quotient->upper) return;
    const auto axes = kept_axes(graph, *sum);
    if (!axes || axes->size() != 1) return;
    graph.replace(node, make_node("Softmax", 13, {before_shift(graph, exp->inputs.at(0), *axes)},
                                  {attribute("axis", axes->front())}));
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "softmax",
             .summary = "Exp divided by its ReduceSum along one axis becomes Softmax",
             .level = Optimize::all,
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::softmax
