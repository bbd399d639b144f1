#include "stoker/api/onnx/optimize/quantization.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx {
namespace {

/// Scales of f32 that are one number or a vector, and zero points of the same count.
bool read_scales(const GraphEditor& graph, const Node& node, Quantized& made) {
  const TensorData* const scale = graph.constant(node.inputs.at(1));
  if (scale == nullptr || scale->type != ElementType::f32 || scale->dims.size() > 1) return false;
  const auto scales = reals_of(scale);
  if (!scales || scales->empty() || node.integer("block_size", 0) != 0) return false;
  made.scale = node.inputs[1];
  made.scales = *scales;
  made.axis = node.integer("axis", 1);
  if (!node.has_input(2)) return true;
  made.zero_point = node.inputs[2];
  const TensorData* const zero = graph.constant(made.zero_point);
  return zero != nullptr && zero->elements() == scales->size();
}

/// Whether a convolution on the CPU has groups of few channels.
bool has_narrow_groups(const GraphEditor& graph, const Node& node, const Quantized& w) {
  constexpr std::int64_t few = 16;
  return graph.model().device == DeviceType::cpu && node.integer("group", 1) > 1 &&
         graph.extent_of(w.numbers, 1).value_or(few) < few;
}

/// The axis of the weights that has the columns of the result; nothing if it is not known.
std::optional<std::int64_t> column_axis(const GraphEditor& graph, const Node& node,
                                        const Quantized& w) {
  if (is(node, "Conv")) return 0;
  if (is(node, "Gemm")) return node.flag("transB", false) ? 0 : 1;
  const auto rank = graph.rank_of(w.numbers);
  return rank == 2 ? std::optional<std::int64_t>{1} : std::nullopt;
}

}  // namespace

bool Quantized::is_byte() const noexcept {
  return type == ElementType::s8 || type == ElementType::u8;
}

std::optional<Quantized> dequantized_from(const GraphEditor& graph, std::string_view value) {
  const Node* const node = graph.writer(value, "DequantizeLinear");
  Quantized made;
  if (node == nullptr || !read_scales(graph, *node, made)) return {};
  if (output_type(*node, ElementType::f32) != ElementType::f32) return {};
  made.numbers = node->inputs[0];
  made.type = graph.type_of(made.zero_point.empty() ? made.numbers : made.zero_point);
  return made;
}

std::optional<Quantized> quantized_by(const GraphEditor& graph, const Node& node) {
  Quantized made;
  if (!is(node, "QuantizeLinear") || node.has("precision") || !read_scales(graph, node, made) ||
      !made.is_uniform())
    return {};
  made.numbers = node.outputs.at(0);
  made.type =
      made.zero_point.empty() ? output_type(node, ElementType::u8) : graph.type_of(made.zero_point);
  return made;
}

std::optional<double> zero_of(const GraphEditor& graph, const Quantized& of) {
  if (of.zero_point.empty()) return 0;
  const auto zeros = reals_of(graph.constant(of.zero_point));
  return zeros && zeros->size() == 1 ? std::optional{zeros->front()} : std::nullopt;
}

bool is_alike(const GraphEditor& graph, const Quantized& a, const Quantized& b) {
  if (!a.is_uniform() || !b.is_uniform() || a.type != b.type || a.scales != b.scales) return false;
  // With scales far from the ends of f32 a quotient of a product differs by rounding only.
  if (!(a.scales[0] > 0x1p-100 && a.scales[0] < 0x1p100)) return false;
  const auto zero = zero_of(graph, a);
  return zero && zero == zero_of(graph, b);
}

std::string zero_point_of(GraphEditor& graph, const Quantized& of) {
  if (!of.zero_point.empty()) return of.zero_point;
  return graph.add_constant(
      of.scale,
      {.type = of.type, .dims = {}, .bytes = SharedBytes::own({std::byte{0}}), .strings = {}});
}

std::optional<Steps> steps_of(const GraphEditor& graph, const Quantized& of) {
  if (!of.is_byte() || !of.is_uniform() || !(of.scales[0] > 0)) return {};
  const auto zero = zero_of(graph, of);
  return zero ? std::optional{Steps{*integer_ends(of.type), *zero}} : std::nullopt;
}

std::optional<IntegerEnds> quantized_ends(const GraphEditor& graph, const Quantized& to,
                                          double least, double most) {
  const auto steps = steps_of(graph, to);
  if (!steps) return {};
  const auto quantized = [&](double real) {
    const float quotient = static_cast<float>(real) / static_cast<float>(to.scales[0]);
    return std::clamp(static_cast<double>(std::nearbyint(quotient)) + steps->zero, steps->ends.low,
                      steps->ends.high);
  };
  return IntegerEnds{quantized(least), quantized(most)};
}

std::vector<double> QuantizedFactors::scales() const {
  std::vector<double> made = w.scales;
  for (double& one : made) one *= x.scales[0];
  return made;
}

std::optional<QuantizedFactors> quantized_factors(const GraphEditor& graph, const Node& node) {
  const bool is_conv = is(node, "Conv");
  if (!is_conv && !is(node, "MatMul") && !is(node, "Gemm")) return {};
  const auto x = dequantized_from(graph, node.inputs.at(0));
  const auto w = dequantized_from(graph, node.inputs.at(1));
  if (!x || !w || !x->is_byte() || !w->is_byte() || !x->is_uniform()) return {};
  if (is_conv && has_narrow_groups(graph, node, *w)) return {};
  if (!w->is_uniform()) {
    const auto axis = column_axis(graph, node, *w);
    const auto rank = graph.rank_of(w->numbers);
    if (!axis || !rank || axis_in(w->axis, static_cast<std::int64_t>(*rank)) != *axis) return {};
  }
  return QuantizedFactors{*x, *w};
}

}  // namespace stoker::onnx
