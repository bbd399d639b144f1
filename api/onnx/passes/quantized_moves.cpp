// What only moves numbers, or takes the largest: 8-bit integers are moved, not the floats that they stand for.
//
// DequantizeLinear goes behind what moves its result, QuantizeLinear before what it reads. Where they meet, and say the
// same, both are dropped. All of this is exact but for NaN, which QuantizeLinear has no integer for: each element is
// treated alike, and the order of numbers is kept.
#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/quantization.hpp"

namespace stoker::onnx::passes::quantized_moves {
namespace {

/// These move their first operand.
constexpr auto moving = std::to_array<std::string_view>(
    {"DepthToSpace", "Flatten", "Reshape", "SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze"});
/// These choose from it, so that there is less to dequantise afterwards.
constexpr auto choosing = std::to_array<std::string_view>({"Gather", "Slice"});

bool is_any(const Node& node, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return is(node, name); });
}

/// Opset 12 lets MaxPool take 8-bit integers.
bool is_pool(const Node& node) {
  return is(node, "MaxPool") && node.opset >= 12 && !node.has_output(1);
}

/// Whether each window meets the input. Of one that lies in the padding, floats give minus infinity, and integers the
/// least one.
bool windows_meet_input(const Node& node) {
  const auto* const kernel = node.integers("kernel_shape");
  const auto* const pads = node.integers("pads");
  if (kernel == nullptr || kernel->empty()) return false;
  if (pads == nullptr && node.text("auto_pad", "NOTSET") == "NOTSET") return true;
  if (const auto* const dilations = node.integers("dilations"))
    if (std::ranges::any_of(*dilations, [](std::int64_t one) { return one != 1; })) return false;
  if (pads == nullptr) return true;
  for (std::size_t i = 0; i < pads->size(); ++i)
    if ((*pads)[i] >= (*kernel)[i % kernel->size()]) return false;
  return true;
}

/// How many of its first operands it moves.
std::size_t moved_operands(const Node& node) {
  if (node.inputs.empty() || !node.has_output(0)) return 0;
  if (is(node, "Concat")) return node.inputs.size();
  return is_any(node, moving) ? 1 : 0;
}

/// Where the axis of scales lies behind a Transpose.
std::optional<std::int64_t> moved_axis(const Node& node, const Quantized& from) {
  const auto* const axes = node.integers("perm");
  if (!is(node, "Transpose") || axes == nullptr) return {};
  const auto rank = static_cast<std::int64_t>(axes->size());
  const auto at = std::ranges::find(*axes, from.axis < 0 ? from.axis + rank : from.axis);
  return at == axes->end() ? std::nullopt : std::optional{at - axes->begin()};
}

/// Removes what nothing reads any more, so that others see how often the rest is read.
void drop_unread(GraphEditor& graph, std::span<const std::string> names) {
  for (const std::string& name : names)
    if (Node* const node = graph.writer(name); node != nullptr && !graph.is_read(name))
      graph.remove(*node);
}

/// Moves integers, and dequantises what came of them.
void dequantize_later(GraphEditor& graph, Node& node) {
  const bool has_order = is_pool(node) && windows_meet_input(node);
  const std::size_t count = has_order || is_any(node, choosing) ? 1 : moved_operands(node);
  if (count == 0) return;
  Node moved = node;
  std::optional<Quantized> first;
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = dequantized_from(graph, node.inputs[i]);
    if (!from || !from->is_byte()) return;
    if (i == 0) first = from;
    if (i > 0 && !is_alike(graph, *first, *from)) return;
    moved.inputs[i] = from->numbers;
  }
  if (has_order && !(first->scales[0] > 0 && first->is_uniform())) return;
  const auto axis = first->is_uniform() ? std::optional{first->axis} : moved_axis(node, *first);
  if (!axis) return;
  moved.outputs = {graph.fresh(first->numbers)};
  Node later = *graph.writer(node.inputs[0]);
  later.inputs[0] = moved.outputs[0];
  later.outputs.clear();
  graph.insert(std::move(moved), node);
  Node& put = graph.replace(node, std::move(later));
  if (!first->is_uniform()) graph.set_attribute(put, "axis", *axis);
  drop_unread(graph, std::span{node.inputs}.first(count));
}

/// Quantises what is moved, and moves the integers.
void quantize_earlier(GraphEditor& graph, Node& node, const Quantized& to) {
  if (const auto from = dequantized_from(graph, node.inputs[0]);
      from && is_alike(graph, *from, to)) {
    if (graph.forward(node, from->numbers)) drop_unread(graph, {&node.inputs[0], 1});
    return;
  }
  Node* const move = graph.writer(node.inputs[0]);
  if (move == nullptr || !graph.is_read_once(node.inputs[0])) return;
  const std::size_t count = is_pool(*move) ? 1 : moved_operands(*move);
  // Floats that a run brings are quantised by this node only, before or behind the move: nothing is gained.
  const auto is_made = [&](const std::string& name) { return graph.writer(name) != nullptr; };
  if (count == 0 || !std::ranges::all_of(std::span{move->inputs}.first(count), is_made)) return;
  Node moved = *move;
  for (std::size_t i = 0; i < count; ++i) {
    Node earlier = node;
    earlier.inputs[0] = move->inputs[i];
    earlier.outputs = {graph.fresh(move->inputs[i])};
    moved.inputs[i] = earlier.outputs[0];
    graph.insert(std::move(earlier), *move);
  }
  moved.outputs.clear();
  graph.replace(node, std::move(moved));
  graph.remove(*move);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const auto to = quantized_by(graph, node);
    if (!to)
      dequantize_later(graph, node);
    else if (to->is_byte() && to->scales[0] > 0)
      quantize_earlier(graph, node, *to);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "quantized_moves",
             .summary = "Concat, DepthToSpace, Flatten, Gather, MaxPool, Reshape, Slice, "
                        "SpaceToDepth, Squeeze, Transpose and Unsqueeze between DequantizeLinear "
                        "and QuantizeLinear move 8-bit integers instead of floats; a "
                        "DequantizeLinear and a QuantizeLinear that undo each other are removed",
             .level = Optimize::all,
             .stage = PassStage::integers,
             .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_moves
