// What is certain about ranks and element types: from what a run checks about its inputs, from constants, and from
// nodes that keep or say them. What a file says about values in between may be wrong, and is not asked.
#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {
namespace {

/// How many nodes are looked at for one value.
constexpr int most_steps = 64;

/// Operators whose first result has the rank of their first operand.
constexpr auto keeping =
    std::to_array<std::string_view>({"Abs",       "AveragePool", "BatchNormalization",
                                     "Ceil",      "Clip",        "Dropout",
                                     "Elu",       "Erf",         "Exp",
                                     "Floor",     "Gelu",        "GlobalAveragePool",
                                     "HardSwish", "Identity",    "HardSigmoid",
                                     "LeakyRelu", "LogSoftmax",  "LRN",
                                     "MaxPool",   "Mish",        "Neg",
                                     "Pad",       "Reciprocal",  "Relu",
                                     "Selu",      "Sigmoid",     "Softmax",
                                     "Softplus",  "Sqrt",        "Swish",
                                     "Tanh",      "Transpose",   "GlobalMaxPool",
                                     "Log",       "Round",       "LayerNormalization",
                                     "Celu",      "Softsign",    "ThresholdedRelu",
                                     "Sin",       "Cos",         "InstanceNormalization"});
/// Whose result has the rank of their first operand, and another type.
constexpr auto scaling =
    std::to_array<std::string_view>({"Cast", "DequantizeLinear", "QuantizeLinear"});

constexpr auto binary = std::to_array<std::string_view>({"Add", "Sub", "Mul", "Div"});
constexpr auto reducing =
    std::to_array<std::string_view>({"ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"});

bool is_any(const Node& node, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return is(node, name); });
}

}  // namespace

/// An input whose type each run checks.
const ValueInfo* GraphEditor::checked_input(std::string_view name) const {
  const Entry* const one = entry(name);
  if (is_body() || one == nullptr || one->input == nullptr) return nullptr;
  return one->input->type.kind == ValueKind::tensor ? one->input : nullptr;
}

std::optional<std::size_t> GraphEditor::rank_of(std::string_view name) const {
  int steps = most_steps;
  return rank_of(name, steps);
}

std::optional<std::size_t> GraphEditor::rank_of(std::string_view name, int& steps) const {
  if (steps-- <= 0) return {};
  if (const TensorData* const tensor = constant(name)) return tensor->dims.size();
  if (const ValueInfo* const input = checked_input(name))
    return input->type.dims ? std::optional{input->type.dims->size()} : std::nullopt;
  const Node* const node = writer(name);
  if (node == nullptr || node->inputs.empty() || node->outputs[0] != name) return {};
  if (is(*node, "Flatten") || is(*node, "Gemm")) return 2;
  if (is(*node, "Conv") || is(*node, "ConvInteger") || is(*node, "ConvTranspose")) {
    const TensorData* const weights = constant(node->inputs.at(1));
    return weights != nullptr ? weights->dims.size() : rank_of(node->inputs[0], steps);
  }
  if (is_any(*node, reducing))
    return node->flag("keepdims", true) ? rank_of(node->inputs[0], steps) : std::nullopt;
  if (is_any(*node, binary)) {
    const auto first = rank_of(node->inputs[0], steps);
    const auto second = first ? rank_of(node->inputs.at(1), steps) : std::nullopt;
    return second ? std::optional{std::max(*first, *second)} : std::nullopt;
  }
  if (is(*node, "Reshape") && node->has_input(1)) {
    const TensorData* const shape = constant(node->inputs[1]);
    if (shape == nullptr || shape->dims.size() != 1) return {};
    return static_cast<std::size_t>(shape->dims[0]);
  }
  const bool is_kept = is_any(*node, keeping) || is_any(*node, scaling);
  return is_kept ? rank_of(node->inputs[0], steps) : std::nullopt;
}

ElementType GraphEditor::type_of(
    std::string_view name, const std::map<std::string, ElementType, std::less<>>& certain) const {
  std::string_view at = name;
  for (int step = 0; step < most_steps; ++step) {
    if (const auto found = certain.find(at); found != certain.end()) return found->second;
    if (const TensorData* const tensor = constant(at)) return tensor->type;
    if (const ValueInfo* const input = checked_input(at)) return input->type.element;
    const Node* const node = writer(at);
    if (node == nullptr) return ElementType::undefined;
    const auto definition = model_.operators->find(node->domain, node->op);
    if (definition == nullptr) return ElementType::undefined;
    const auto result =
        static_cast<std::size_t>(std::ranges::find(node->outputs, at) - node->outputs.begin());
    const auto operand = operand_of_type(definition->types, result, *node);
    if (!operand) return type_of_result(definition->types, result, *node, {}, {});
    at = node->inputs[*operand];
  }
  return ElementType::undefined;
}

}  // namespace stoker::onnx
