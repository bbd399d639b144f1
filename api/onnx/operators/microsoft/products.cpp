// The domain com.microsoft: products and convolutions with what ONNX Runtime's optimizer joins to them.
// https://onnxruntime.ai/docs/reference/operators/ContribOperators.html
#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/api/onnx/core/channel_axis.hpp"
#include "stoker/api/onnx/core/expected_shape.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::microsoft::products {
namespace {

/// An operator that may follow, by what the attribute `activation` calls it, and the attributes that its numbers are.
struct Activation {
  std::string_view name, op;
  std::vector<std::string> numbers;
};
const Activation* activation_of(const Node& node) {
  static const std::array<Activation, 13> all{{{"Relu", "Relu", {}},
                                               {"Tanh", "Tanh", {}},
                                               {"Sigmoid", "Sigmoid", {}},
                                               {"Softplus", "Softplus", {}},
                                               {"Softsign", "Softsign", {}},
                                               {"HardSwish", "HardSwish", {}},
                                               {"Silu", "Swish", {}},
                                               {"LeakyRelu", "LeakyRelu", {"alpha"}},
                                               {"ThresholdedRelu", "ThresholdedRelu", {"alpha"}},
                                               {"Elu", "Elu", {"alpha"}},
                                               {"Selu", "Selu", {"alpha", "gamma"}},
                                               {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
                                               // In version 6 the ends are attributes, too.
                                               {"Clip", "Clip", {"min", "max"}}}};
  const std::string name = node.text("activation", "");
  const auto* found =
      std::ranges::find_if(all, [&](const Activation& one) { return one.name == name; });
  return found == all.end() ? nullptr : found;
}

/// The numbers of the activation: activation_params in a convolution, an attribute each in a product.
std::vector<float> numbers_of(const Node& node) {
  if (const auto* all = node.reals("activation_params")) return *all;
  std::vector<float> numbers;
  for (const std::string& one : activation_of(node)->numbers)
    if (node.has("activation_" + one)) numbers.push_back(node.real("activation_" + one));
  return numbers;
}

std::string unfit_activation(const Node& node, int) {
  const std::string name = node.text("activation", "");
  if (name.empty()) return "";
  const Activation* const activation = activation_of(node);
  if (activation == nullptr) return "the activation " + name + " is not known";
  const std::size_t given = numbers_of(node).size();
  // Numbers of an activation that has none are left alone, as ONNX Runtime does.
  if (activation->numbers.empty() || given == activation->numbers.size()) return "";
  return "the activation " + name + " has " + std::to_string(activation->numbers.size()) +
         " numbers, " + std::to_string(given) + " are given";
}

/// x after the activation that the node names.
Value activated(const Call& call, const Value& x) {
  const Activation* const activation = activation_of(call.node());
  if (activation == nullptr) return x;
  const std::vector<float> numbers = numbers_of(call.node());
  std::vector<Attribute> attributes;
  for (std::size_t i = 0; i < activation->numbers.size(); ++i)
    attributes.push_back({.name = activation->numbers[i], .value = numbers[i], .reference = {}});
  return rule_of(call, node_with(activation->op, std::move(attributes)), 6, {x}).at(0);
}

Values fused_conv(Call& call) {
  const Values operands{call.input(0), call.input(1), operand_of(call, 2)};
  Value y = rule_of(call, call.node(), "Conv", 22, operands).at(0);
  if (call.has(3)) {
    expect_shape(call, 3, "sum", extents_of(y.shape()));
    y = call.like(y.tensor() + call.x(3));
  }
  return {activated(call, y)};
}

/// The convolution of images with channels last; weights are [outputs, channels / group, …], as those of Conv.
Values nhwc_conv(Call& call) {
  if (call.rank() < 3)
    call.refuse(ErrorCode::shape_mismatch,
                "expected [batch, space…, channels], got " + call.input(0).to_string());
  const Values operands{call.like(channels_first(call.x())), call.input(1), operand_of(call, 2)};
  return {
      call.like(channels_last(rule_of(call, call.node(), "Conv", 22, operands).at(0).tensor()))};
}

Values fused_gemm(Call& call) {
  const Values operands{call.input(0), call.input(1), operand_of(call, 2)};
  return {activated(call, rule_of(call, call.node(), "Gemm", 13, operands).at(0))};
}

/// Operand i with its last two axes exchanged, and its first one moved behind the others of the batch, as the
/// node says. A vector stays as it is.
Tensor turned(const Call& call, std::size_t i, const char* transposes, const char* moves_batch) {
  Tensor x = call.x(i);
  const std::int64_t rank = call.rank(i);
  const bool moves = call.node().flag(moves_batch, false);
  if (moves && rank < 3)
    call.refuse(
        ErrorCode::shape_mismatch,
        std::string{moves_batch} + ": expected 3 axes or more, got " + call.input(i).to_string());
  if (rank < 2) return x;
  Axes order;
  for (std::int64_t axis = 0; axis < rank; ++axis) order.push_back(axis);
  if (moves) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (call.node().flag(transposes, false)) std::swap(order[order.size() - 2], order.back());
  return transpose(x, order);
}

Values fused_matmul(Call& call) {
  Tensor a = turned(call, 0, "transA", "transBatchA");
  const Tensor b = turned(call, 1, "transB", "transBatchB");
  const double alpha = call.node().real("alpha", 1);
  // A product of f16 may leave the range that alpha brings it back to: scores of attention do.
  const bool before = size_of(a.dtype()) < 4 && std::abs(alpha) < 1;
  if (before) a = a * alpha;
  const Tensor y = matmul(a, b);
  return {call.like(before || alpha == 1 ? y : y * alpha)};
}

}  // namespace

void define(OperatorTable& table) {
  const std::string domain = "com.microsoft";
  std::vector<std::string> windows{"auto_pad",     "dilations", "group",
                                   "kernel_shape", "pads",      "strides"};
  table.add({.name = "NhwcConv",
             .domain = domain,
             .least_inputs = 2,
             .most_inputs = 3,
             .types = alike(float_types),
             .attributes = windows,
             .lower = &nhwc_conv});
  windows.insert(windows.end(), {"activation", "activation_params"});
  table.add({.name = "FusedConv",
             .domain = domain,
             .least_inputs = 2,
             .most_inputs = 4,
             .types = alike(float_types),
             .attributes = windows,
             .refuse = &unfit_activation,
             .lower = &fused_conv});
  table.add({.name = "FusedGemm",
             .domain = domain,
             .least_inputs = 2,
             .most_inputs = 3,
             .types = alike(float_types),
             .attributes = {"activation", "activation_alpha", "activation_beta", "activation_gamma",
                            "alpha", "beta", "transA", "transB"},
             .refuse = &unfit_activation,
             .lower = &fused_gemm});
  table.add({.name = "FusedMatMul",
             .domain = domain,
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(float_types),
             .attributes = {"alpha", "transA", "transB", "transBatchA", "transBatchB"},
             .lower = &fused_matmul});
}

}  // namespace stoker::onnx::operators::microsoft::products
