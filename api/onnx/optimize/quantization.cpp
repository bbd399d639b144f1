#include "stoker/api/onnx/optimize/quantization.hpp"

#include "stoker/api/onnx/core/integer_sums.hpp"
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

}  // namespace stoker::onnx
