// The domain com.microsoft: Gaussian error linear units, alone and behind a bias.
// https://onnxruntime.ai/docs/reference/operators/ContribOperators.html
#include "stoker/api/onnx/core/expected_shape.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx::operators::microsoft::activations {
namespace {

/// Gelu of x, or of x and a bias along its last axis.
Values gelu(Call& call, const char* form) {
  if (call.has(1))
    expect_shape(call, 1, "bias", {call.rank() == 0 ? 1 : call.shape()[call.rank() - 1]});
  const Value x = call.has(1) ? call.like(call.x(0) + call.x(1)) : call.input(0);
  const Node node =
      node_with("Gelu", {{.name = "approximate", .value = std::string{form}, .reference = {}}});
  return {rule_of(call, node, 20, {x}).at(0)};
}

Values quick_gelu(Call& call) {
  const float alpha = call.node().real("alpha", 1.702F);
  const Node node = node_with("Swish", {{.name = "alpha", .value = alpha, .reference = {}}});
  return {rule_of(call, node, 24, {call.input(0)}).at(0)};
}

}  // namespace

void define(OperatorTable& table) {
  const std::string domain = "com.microsoft";
  const auto exact = [](Call& call) { return gelu(call, "none"); };
  table.add({.name = "Gelu", .domain = domain, .types = alike(float_types), .lower = exact});
  table.add({.name = "BiasGelu",
             .domain = domain,
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(float_types),
             .lower = exact});
  table.add({.name = "FastGelu",
             .domain = domain,
             .most_inputs = 2,
             .types = alike(float_types),
             .lower = [](Call& call) { return gelu(call, "tanh"); }});
  table.add({.name = "QuickGelu",
             .domain = domain,
             .types = alike(float_types),
             .attributes = {"alpha"},
             .lower = &quick_gelu});
}

}  // namespace stoker::onnx::operators::microsoft::activations
