// DequantizeLinear of constant weights, then MatMul or Gemm: the product reads the integers, which stay as
// they are. The result may differ as the sums' order does.
#include <algorithm>

#include "stoker/api/onnx/core/integer_sums.hpp"
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/quantization.hpp"

namespace stoker::onnx::passes::quantized_weights {
namespace {

constexpr const char* own_domain = "stoker";
constexpr const char* made_op = "DequantizedMatMul";

bool is_small_integer(ElementType type) {
  switch (type) {
    case ElementType::s2:
    case ElementType::u2:
    case ElementType::s4:
    case ElementType::u4:
    case ElementType::s8:
    case ElementType::u8: return true;
    default: return false;
  }
}

/// Weights that a product can unpack itself.
struct Weights {
  const Node* from = nullptr;  ///< the DequantizeLinear
  std::int64_t block = 0;      ///< numbers of a column that share a scale; 0: all of them
  ElementType type = ElementType::undefined;
};

/// Whether one number stands for all weights: [] and [1] say the same.
bool is_single(const TensorData& tensor) {
  return tensor.elements() == 1 && tensor.dims.size() <= 1;
}

/// The extents of scales that the product takes: one, one for each column, or one for each block of a column.
std::optional<std::int64_t> block_of(const Node& node, const TensorData& numbers,
                                     const TensorData& scale, std::int64_t depth_axis) {
  const std::int64_t block = node.integer("block_size", 0);
  const auto axis = node.integer("axis", 1);
  const std::int64_t from_front = axis < 0 ? axis + 2 : axis;
  if (block == 0) {
    if (is_single(scale)) return 0;
    const bool is_by_column = scale.dims.size() == 1 && from_front == 1 - depth_axis &&
                              scale.dims[0] == numbers.dims[static_cast<std::size_t>(from_front)];
    return is_by_column ? std::optional<std::int64_t>{0} : std::nullopt;
  }
  if (block % 16 != 0 || from_front != depth_axis || scale.dims.size() != 2) return {};
  std::vector<std::int64_t> expected = numbers.dims;
  std::int64_t& depth = expected[static_cast<std::size_t>(depth_axis)];
  depth = (depth + block - 1) / block;
  return scale.dims == expected ? std::optional{block} : std::nullopt;
}

std::optional<Weights> weights_of(const GraphEditor& graph, std::string_view value,
                                  std::int64_t depth_axis) {
  const Node* const node = graph.writer(value, "DequantizeLinear");
  if (node == nullptr) return {};
  const TensorData* const numbers = graph.constant(node->inputs.at(0));
  const TensorData* const scale = graph.constant(node->inputs.at(1));
  if (numbers == nullptr || scale == nullptr || numbers->dims.size() != 2 ||
      numbers->elements() == 0 || !is_small_integer(numbers->type) ||
      (scale->type != ElementType::f32 && scale->type != ElementType::f16) ||
      output_type(*node, scale->type) != scale->type)
    return {};
  const auto block = block_of(*node, *numbers, *scale, depth_axis);
  if (!block) return {};
  if (node->has_input(2)) {
    const TensorData* const zero = graph.constant(node->inputs[2]);
    if (zero == nullptr || zero->type != numbers->type) return {};
    if (zero->dims != scale->dims && !(is_single(*zero) && is_single(*scale))) return {};
  }
  return Weights{node, *block, numbers->type};
}

void rewrite(GraphEditor& graph, Node& node) {
  const bool is_gemm = is(node, "Gemm");
  if (!is_gemm && !is(node, "MatMul")) return;
  const bool is_transposed = is_gemm && node.flag("transB", false);
  if (is_gemm && (node.flag("transA", false) || node.real("alpha", 1) != 1 ||
                  (node.has_input(2) && node.real("beta", 1) != 1)))
    return;
  const auto weights = weights_of(graph, node.inputs.at(1), is_transposed ? 1 : 0);
  if (!weights || !graph.model().operators->find(own_domain, made_op)) return;
  // Elsewhere, products of integers of 8 bits are summed in integers.
  if (graph.model().device != DeviceType::cpu && quantized_factors(graph, node)) return;
  const Node& from = *weights->from;
  Node made = make_node(made_op, 1, {node.inputs[0], from.inputs[0], from.inputs[1]});
  made.domain = own_domain;
  const bool has_bias = node.has_input(2);
  if (from.has_input(2) || has_bias)
    made.inputs.push_back(from.has_input(2) ? from.inputs[2] : std::string{});
  if (has_bias) made.inputs.push_back(node.inputs[2]);
  if (weights->block != 0) made.attributes.push_back(attribute("block_size", weights->block));
  if (is_transposed) made.attributes.push_back(attribute("transposed", std::int64_t{1}));
  graph.replace(node, std::move(made));
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) { rewrite(graph, node); });
}

}  // namespace

void define(PassTable& table) {
  table.add(
      {.name = "quantized_weights",
       .summary =
           "MatMul and Gemm read constant weights of 2, 4 or 8 bits without the DequantizeLinear "
           "that makes floats of them, so that the weights stay packed on the device",
       .level = Optimize::all,
       .stage = PassStage::integers,
       .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_weights
