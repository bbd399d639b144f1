// DequantizeLinear, a convolution or product in floats, QuantizeLinear: the same in integers. The result may
// differ by one step, where the float one was rounded on its way.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/quantization.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::quantized_products {
namespace {

constexpr const char* microsoft = "com.microsoft";

/// What becomes of a value that only a QuantizeLinear reads.
struct Ending {
  Node* last = nullptr;
  Quantized made;
};
std::optional<Ending> after_floats(const GraphEditor& graph, std::string_view result) {
  if (!graph.is_read_once(result)) return {};
  Node* const next = graph.readers(result).at(0);
  const auto made = quantized_by(graph, *next);
  return made && made->is_byte() ? std::optional{Ending{next, *made}} : std::nullopt;
}

/// The name of the zero point; where there is none, that of a new constant.
std::string zero_point_of(GraphEditor& graph, const Quantized& of) {
  if (!of.zero_point.empty()) return of.zero_point;
  return graph.add_constant(
      of.scale,
      {.type = of.type, .dims = {}, .bytes = SharedBytes::own({std::byte{0}}), .strings = {}});
}

/// A Conv, MatMul or Gemm between quantised numbers.
struct Product {
  Quantized x, w;
  Ending end;
  std::string bias;  ///< empty: none
};

/// Scales of s32 numbers that stand for a sum of products, one for each of them or one for all.
std::vector<double> scales_of_sums(const Product& of) {
  std::vector<double> scales = of.w.scales;
  for (double& one : scales) one *= of.x.scales[0];
  return scales;
}

/// The name of the bias in s32, which has the scales of the sums; nothing if it is no constant, or too large.
std::optional<std::string> integer_bias(GraphEditor& graph, const Product& of) {
  const std::vector<double> scales = scales_of_sums(of);
  const auto scale = [&](std::size_t i) { return scales[scales.size() == 1 ? 0 : i]; };
  std::vector<double> reals;
  if (const Node* const node = graph.writer(of.bias, "DequantizeLinear")) {
    const TensorData* const numbers = graph.constant(node->inputs.at(0));
    const auto given = reals_of(graph.constant(node->inputs.at(1)));
    const auto whole = reals_of(numbers);
    if (!given || !whole || numbers->type != ElementType::s32 || numbers->dims.size() != 1 ||
        (given->size() != 1 && given->size() != whole->size()))
      return {};
    if (node->has_input(2)) {
      const auto zeros = reals_of(graph.constant(node->inputs[2]));
      if (!zeros || std::ranges::any_of(*zeros, [](double one) { return one != 0; })) return {};
    }
    bool is_same = true;
    for (std::size_t i = 0; i < whole->size(); ++i) {
      const double own = (*given)[given->size() == 1 ? 0 : i];
      is_same = is_same && is_near(own, scale(i));
      reals.push_back((*whole)[i] * own);
    }
    if (is_same) return node->inputs[0];
  } else {
    const TensorData* const numbers = graph.constant(of.bias);
    const auto given = reals_of(numbers);
    if (!given || numbers->type != ElementType::f32 || numbers->dims.size() != 1) return {};
    reals = *given;
  }
  if (scales.size() != 1 && scales.size() != reals.size()) return {};
  std::vector<std::byte> bytes(reals.size() * sizeof(std::int32_t));
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const double number = std::nearbyint(reals[i] / scale(i));
    if (!(std::abs(number) < 0x1p31)) return {};
    const auto whole = static_cast<std::int32_t>(number);
    std::memcpy(bytes.data() + i * sizeof whole, &whole, sizeof whole);
  }
  if (!graph.affords(bytes.size(), {&of.bias, 1})) return {};
  return graph.add_constant(of.bias, {.type = ElementType::s32,
                                      .dims = {static_cast<std::int64_t>(reals.size())},
                                      .bytes = SharedBytes::own(std::move(bytes)),
                                      .strings = {}});
}

/// The axis of the weights that has the columns of the result; nothing if it is not known.
std::optional<std::int64_t> column_axis(const GraphEditor& graph, const Node& node,
                                        const Quantized& w) {
  if (is(node, "Conv")) return 0;
  if (is(node, "Gemm")) return node.flag("transB", false) ? 0 : 1;
  const auto rank = graph.rank_of(w.numbers);
  return rank == 2 ? std::optional<std::int64_t>{1} : std::nullopt;
}

std::optional<Product> product_of_node(const GraphEditor& graph, const Node& node) {
  if (!is(node, "Conv") && !is(node, "MatMul") && !is(node, "Gemm")) return {};
  const auto x = dequantized_from(graph, node.inputs.at(0));
  const auto w = dequantized_from(graph, node.inputs.at(1));
  if (!x || !w || !x->is_byte() || !w->is_byte() || !x->is_uniform()) return {};
  if (!w->is_uniform()) {
    const auto axis = column_axis(graph, node, *w);
    const auto rank = graph.rank_of(w->numbers);
    if (!axis || !rank || axis_in(w->axis, static_cast<std::int64_t>(*rank)) != *axis) return {};
  }
  const auto end = after_floats(graph, node.outputs.at(0));
  if (!end) return {};
  Product made{*x, *w, *end, {}};
  if (node.has_input(2)) made.bias = node.inputs[2];
  if (is(node, "Gemm")) {
    // QGemm multiplies the bias, too.
    const bool is_plain = node.real("alpha", 1) == 1 && node.real("beta", 1) == 1;
    const OperatorTable& operators = *graph.model().operators;
    if ((!made.bias.empty() && !is_plain) || !operators.find(microsoft, "QGemm")) return {};
  }
  return made;
}

void rewrite(GraphEditor& graph, Node& node) {
  const auto product = product_of_node(graph, node);
  if (!product) return;
  std::string bias;
  if (!product->bias.empty()) {
    const auto name = integer_bias(graph, *product);
    if (!name) return;
    bias = *name;
  }
  const auto& [x, w, end, unused] = *product;
  const std::string x_zero = zero_point_of(graph, x), w_zero = zero_point_of(graph, w);
  const std::string y_zero = zero_point_of(graph, end.made);
  Node made;
  if (is(node, "Gemm")) {
    made = make_node(
        "QGemm", 1,
        {x.numbers, x.scale, x_zero, w.numbers, w.scale, w_zero, bias, end.made.scale, y_zero});
    made.domain = microsoft;
    for (const Attribute& one : node.attributes)
      if (one.name == "alpha" || one.name == "transA" || one.name == "transB")
        made.attributes.push_back(one);
  } else {
    const bool is_conv = is(node, "Conv");
    made =
        make_node(is_conv ? "QLinearConv" : "QLinearMatMul", std::max<std::int64_t>(node.opset, 10),
                  {x.numbers, x.scale, x_zero, w.numbers, w.scale, w_zero, end.made.scale, y_zero});
    if (is_conv) made.attributes = node.attributes;
    std::erase_if(made.attributes, [](const Attribute& one) { return one.name == "winograd"; });
    if (!bias.empty()) made.inputs.push_back(bias);
  }
  Node& last = *end.last;
  graph.replace(last, std::move(made));
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) { rewrite(graph, node); });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "quantized_products",
             .summary =
                 "DequantizeLinear, Conv, MatMul or Gemm, QuantizeLinear of 8-bit integers are "
                 "QLinearConv, QLinearMatMul or QGemm",
             .level = Optimize::all,
             .stage = PassStage::integers,
             .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_products
