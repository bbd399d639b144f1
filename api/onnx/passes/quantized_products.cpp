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

/// What becomes of floats that only a QuantizeLinear reads, or only a Relu or Clip before one.
struct Ending {
  Node* last = nullptr;  ///< the QuantizeLinear
  Quantized made;
  Node* between = nullptr;               ///< the Relu or Clip
  std::optional<IntegerEnds> clip = {};  ///< where it cuts off more than the type
};
std::optional<Ending> after_floats(const GraphEditor& graph, std::string_view result) {
  if (!graph.is_read_once(result)) return {};
  Node* next = graph.readers(result).at(0);
  const auto bounds = clip_bounds(graph, *next);
  Node* const between = bounds ? next : nullptr;
  if (bounds) {
    if (!graph.is_read_once(next->outputs.at(0))) return {};
    next = graph.readers(next->outputs[0]).at(0);
  }
  const auto made = quantized_by(graph, *next);
  if (!made || !made->is_byte()) return {};
  Ending end{next, *made, between};
  if (!bounds) return end;
  const auto steps = steps_of(graph, *made);
  const auto ends = quantized_ends(graph, *made, bounds->least, bounds->most);
  if (!ends) return {};
  if (ends->low > steps->ends.low || ends->high < steps->ends.high) end.clip = ends;
  return end;
}

/// A Conv, MatMul or Gemm between quantised numbers.
struct Product {
  QuantizedFactors of;
  Ending end;
  std::string bias;  ///< empty: none
};

/// The name of the bias in s32, which has the scales of the sums; nothing if it is no constant, or too large.
std::optional<std::string> integer_bias(GraphEditor& graph, const Product& of) {
  const std::vector<double> scales = of.of.scales();
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

std::optional<Product> product_of_node(const GraphEditor& graph, const Node& node) {
  const auto factors = quantized_factors(graph, node);
  if (!factors) return {};
  const auto end = after_floats(graph, node.outputs.at(0));
  if (!end) return {};
  Product made{*factors, *end, {}};
  if (node.has_input(2)) made.bias = node.inputs[2];
  if (is(node, "Gemm")) {
    // QGemm multiplies the bias, too.
    const bool is_plain = node.real("alpha", 1) == 1 && node.real("beta", 1) == 1;
    const OperatorTable& operators = *graph.model().operators;
    if ((!made.bias.empty() && !is_plain) || !operators.find(microsoft, "QGemm")) return {};
  }
  return made;
}

/// An integer of the type that numbers are quantised to.
std::string bound_of(GraphEditor& graph, const Quantized& to, double integer) {
  if (const TensorData* const zero = graph.constant(to.zero_point);
      zero != nullptr && zero->dims.empty() && zero_of(graph, to) == integer)
    return to.zero_point;
  const auto byte = static_cast<std::byte>(static_cast<std::int32_t>(integer));
  return graph.add_constant(
      to.scale, {.type = to.type, .dims = {}, .bytes = SharedBytes::own({byte}), .strings = {}});
}

/// `made` takes the place of the QuantizeLinear; the clip follows it, in integers.
void put(GraphEditor& graph, const Ending& end, Node made) {
  if (!end.clip) {
    graph.replace(*end.last, std::move(made));
    return;
  }
  const IntegerEnds all = *integer_ends(end.made.type);
  made.outputs = {graph.fresh(end.last->outputs.at(0))};
  std::vector<std::string> inputs{made.outputs[0], {}};
  if (end.clip->low > all.low) inputs[1] = bound_of(graph, end.made, end.clip->low);
  if (end.clip->high < all.high) inputs.push_back(bound_of(graph, end.made, end.clip->high));
  Node clip = make_node("Clip", std::max<std::int64_t>(made.opset, 13), std::move(inputs));
  graph.insert(std::move(made), *end.last);
  graph.replace(*end.last, std::move(clip));
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
  const auto& [x, w] = product->of;
  const Ending& end = product->end;
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
  put(graph, end, std::move(made));
  if (end.between != nullptr) graph.remove(*end.between);
  graph.remove(node);
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) { rewrite(graph, node); });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "quantized_products",
             .summary = "Conv, MatMul and Gemm between DequantizeLinear and QuantizeLinear of "
                        "8-bit integers become QLinearConv, QLinearMatMul and QGemm; a Relu or "
                        "Clip before the QuantizeLinear becomes a Clip of integers",
             .level = Optimize::all,
             .stage = PassStage::integers,
             .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_products
