// What is certain about extents: from inputs whose extents each run checks, from constants, and from nodes that keep
// or say them.
#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/graph_editor.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx {
namespace {

/// How many nodes are looked at for one extent.
constexpr int most_steps = 64;

/// Operators whose first result has the shape of their first operand.
constexpr auto keeping = std::to_array<std::string_view>(
    {"Abs",        "Cast",       "Ceil",    "Dropout",   "Elu",      "Erf",      "Exp",
     "Floor",      "Gelu",       "LRN",     "HardSwish", "Log",      "Mish",     "HardSigmoid",
     "LeakyRelu",  "LogSoftmax", "Neg",     "Relu",      "Identity", "Round",    "Selu",
     "Reciprocal", "Sigmoid",    "Softmax", "Sqrt",      "Tanh",     "Softplus", "Swish"});
/// Which do so, too, unless a run broadcasts it to the shape of another operand.
constexpr auto broadcasting = std::to_array<std::string_view>({"Clip", "LayerNormalization"});
/// Which broadcast two operands to each other.
constexpr auto binary = std::to_array<std::string_view>({"Add", "Div", "Mul", "Sub"});
/// Whose first result has the batch and the channels of their operand.
constexpr auto pooling = std::to_array<std::string_view>(
    {"AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"});

bool is_any(const Node& node, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return is(node, name); });
}

/// The entry for an axis that may count from the last one.
std::optional<std::size_t> position(std::int64_t axis, std::size_t rank) {
  const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (at < 0 || at >= static_cast<std::int64_t>(rank)) return {};
  return static_cast<std::size_t>(at);
}

/// Whether an operand leaves an extent of what a run broadcasts with it: an extent of 1 might grow, and more axes would
/// move it. `rank` is that of the value, or nothing if it is not certain.
bool leaves(const GraphEditor& graph, std::string_view operand, std::int64_t axis,
            std::int64_t extent, std::optional<std::size_t> rank) {
  const TensorData* const other = graph.constant(operand);
  if (other == nullptr) return false;
  if (other->dims.empty()) return true;
  if (axis >= 0 && (!rank || other->dims.size() > *rank)) return false;
  const std::int64_t from_end = axis < 0 ? axis : axis - static_cast<std::int64_t>(*rank);
  const auto at = position(from_end, other->dims.size());
  return !at || other->dims[*at] == 1 || other->dims[*at] == extent;
}
/// The same of all operands from `first` on.
bool leave(const GraphEditor& graph, const Node& node, std::size_t first, std::int64_t axis,
           std::int64_t extent, std::optional<std::size_t> rank) {
  for (std::size_t i = first; i < node.inputs.size(); ++i)
    if (node.has_input(i) && !leaves(graph, node.inputs[i], axis, extent, rank)) return false;
  return true;
}

/// Channels of a convolution's result; nothing if the weights are no constant, or if a bias might make one
/// channel more.
std::optional<std::int64_t> channels_of(const GraphEditor& graph, const Node& node) {
  const TensorData* const weights = graph.constant(node.inputs.at(1));
  if (weights == nullptr || weights->dims.size() < 3) return {};
  std::int64_t channels = weights->dims[is(node, "Conv") ? 0 : 1];
  if (is(node, "ConvTranspose") &&
      __builtin_mul_overflow(channels, node.integer("group", 1), &channels))
    return {};
  return channels == 1 && node.has_input(2) ? std::nullopt : std::optional{channels};
}

/// Columns of a product with a constant matrix; nothing if it is none, or if a Gemm's bias might make them more.
std::optional<std::int64_t> columns_of(const GraphEditor& graph, const Node& node,
                                       std::int64_t axis) {
  const TensorData* const weights = graph.constant(node.inputs.at(1));
  if (weights == nullptr || weights->dims.size() < 2) return {};
  const bool is_turned = is(node, "Gemm") && node.flag("transB", false);
  const std::int64_t columns = weights->dims[weights->dims.size() - (is_turned ? 2 : 1)];
  return leave(graph, node, 2, axis, columns, 2) ? std::optional{columns} : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> GraphEditor::extent_of(std::string_view name, std::int64_t axis) const {
  int steps = most_steps;
  return extent_of(name, axis, steps);
}

std::optional<std::int64_t> GraphEditor::extent_of(std::string_view name, std::int64_t axis,
                                                   int& steps) const {
  if (steps-- <= 0) return {};
  if (const TensorData* const tensor = constant(name)) {
    const auto at = position(axis, tensor->dims.size());
    return at ? std::optional{tensor->dims[*at]} : std::nullopt;
  }
  if (const ValueInfo* const input = checked_input(name)) {
    if (!input->type.dims) return {};
    const auto at = position(axis, input->type.dims->size());
    return at ? (*input->type.dims)[*at].extent : std::nullopt;
  }
  const Node* const node = writer(name);
  if (node == nullptr || node->inputs.empty()) return {};
  if (is(*node, "Split")) {
    const auto sizes = part_sizes(*this, *node);
    if (!sizes || sizes->size() != node->outputs.size() || node->integer("axis", 0) != axis)
      return {};
    return (*sizes)[static_cast<std::size_t>(std::ranges::find(node->outputs, name) -
                                             node->outputs.begin())];
  }
  if (node->outputs[0] != name) return {};
  const std::string& x = node->inputs[0];
  if (is_any(*node, keeping)) return extent_of(x, axis, steps);
  if (is_any(*node, broadcasting)) {
    const auto extent = extent_of(x, axis, steps);
    return extent && leave(*this, *node, 1, axis, *extent, rank_of(x)) ? extent : std::nullopt;
  }
  if (is_any(*node, binary) && node->opset >= 7 && node->inputs.size() == 2) {
    const std::size_t i = constant(x) == nullptr ? 0 : 1;
    const std::string& value = node->inputs[i];
    const auto extent = extent_of(value, axis, steps);
    return extent && leaves(*this, node->inputs[1 - i], axis, *extent, rank_of(value))
               ? extent
               : std::nullopt;
  }
  if (is(*node, "BatchNormalization")) {
    // One channel grows to as many as there are scales.
    const auto extent = extent_of(x, axis, steps);
    return axis == 0 || extent != 1 ? extent : std::nullopt;
  }
  if (is_any(*node, pooling))
    return axis == 0 || axis == 1 ? extent_of(x, axis, steps) : std::nullopt;
  if (is(*node, "Conv") || is(*node, "ConvTranspose")) {
    if (axis == 1) return channels_of(*this, *node);
    return axis == 0 ? extent_of(x, axis, steps) : std::nullopt;
  }
  if (is(*node, "Gemm") ? axis == 1 || axis == -1 : is(*node, "MatMul") && axis == -1)
    return columns_of(*this, *node, axis);
  if (is(*node, "Reshape") && node->has_input(1)) {
    const auto shape = integers_of(constant(node->inputs[1]));
    const auto at = shape ? position(axis, shape->size()) : std::nullopt;
    return at && (*shape)[*at] > 0 ? std::optional{(*shape)[*at]} : std::nullopt;
  }
  return {};
}

}  // namespace stoker::onnx
