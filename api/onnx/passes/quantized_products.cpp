// DequantizeLinear, a convolution or product in floats, QuantizeLinear: the same in integers. The result may differ by one
// step, where the float one was rounded on its way.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::quantized_products {
namespace {

constexpr const char* microsoft = "com.microsoft";

/// 8-bit integers with constant scales: what a DequantizeLinear reads, or a QuantizeLinear writes.
struct Quantized {
  std::string numbers;
  std::string scale;
  std::string zero_point;  ///< empty: 0
  ElementType type = ElementType::undefined;
  std::vector<double> scales;  ///< one, or one for each index of `axis`
  std::int64_t axis = 0;
};

bool is_byte(ElementType type) noexcept {
  return type == ElementType::s8 || type == ElementType::u8;
}

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

/// What the value was before a DequantizeLinear to f32.
std::optional<Quantized> before_floats(const GraphEditor& graph, std::string_view name) {
  const Node* const node = graph.writer(name, "DequantizeLinear");
  Quantized made;
  if (node == nullptr || !read_scales(graph, *node, made)) return {};
  if (node->element_type("output_dtype", ElementType::f32) != ElementType::f32) return {};
  made.numbers = node->inputs[0];
  made.type = graph.type_of(made.zero_point.empty() ? made.numbers : made.zero_point);
  return made;
}

/// What becomes of a value that only a QuantizeLinear reads, maybe through a Relu that cuts off what the type does.
struct Ending {
  Node* last = nullptr;
  Quantized made;
};
std::optional<Ending> after_floats(const GraphEditor& graph, std::string_view result) {
  if (!graph.is_read_once(result)) return {};
  Node* next = graph.readers(result).at(0);
  const bool is_cut = is(*next, "Relu");
  if (is_cut) {
    if (!graph.is_read_once(next->outputs.at(0))) return {};
    next = graph.readers(next->outputs[0]).at(0);
  }
  Ending ending{.last = next, .made = {}};
  if (!is(*next, "QuantizeLinear") || next->has("precision") ||
      !read_scales(graph, *next, ending.made) || ending.made.scales.size() != 1)
    return {};
  Quantized& made = ending.made;
  made.type = made.zero_point.empty() ? next->element_type("output_dtype", ElementType::u8)
                                      : graph.type_of(made.zero_point);
  if (is_cut) {
    const double zero =
        made.zero_point.empty()
            ? 0
            : reals_of(graph.constant(made.zero_point)).value_or(std::vector{0.5})[0];
    if (zero != (made.type == ElementType::s8 ? -128 : 0)) return {};
  }
  return is_byte(made.type) ? std::optional{ending} : std::nullopt;
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
  const auto x = before_floats(graph, node.inputs.at(0));
  const auto w = before_floats(graph, node.inputs.at(1));
  if (!x || !w || !is_byte(x->type) || !is_byte(w->type) || x->scales.size() != 1) return {};
  if (w->scales.size() > 1) {
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
                 "DequantizeLinear, Conv, MatMul or Gemm, maybe Relu, QuantizeLinear of 8-bit "
                 "integers are QLinearConv, QLinearMatMul or QGemm",
             .level = Optimize::all,
             .stage = PassStage::integers,
             .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_products
