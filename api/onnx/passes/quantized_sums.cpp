// DequantizeLinear, then a convolution or product that nobody quantises: its products are summed in integers, and the
// sums are dequantised. They are exact, so the result may differ as sums of floats are rounded.
#include <algorithm>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/quantization.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::quantized_sums {
namespace {

constexpr const char* microsoft = "com.microsoft";
/// Of what ConvInteger convolves in integers.
constexpr std::size_t most_rank = 5;
/// How many nodes are looked at for the weights of one product.
constexpr int most_steps = 16;

/// Whether no run changes it: a constant, or what nodes make of constants.
bool is_fixed(const GraphEditor& graph, std::string_view name, int& steps) {
  if (graph.constant(name) != nullptr) return true;
  const Node* const node = graph.writer(name);
  if (node == nullptr || steps-- <= 0 || node->inputs.empty() || !graph.is_pure(*node))
    return false;
  return std::ranges::all_of(node->inputs, [&](const std::string& one) {
    return one.empty() || is_fixed(graph, one, steps);
  });
}

/// Whether it is a constant, or becomes one when constants are folded.
bool is_constant_soon(const GraphEditor& graph, const std::string& name) {
  constexpr std::size_t most_folded = std::size_t{1} << 20;
  if (graph.constant(name) != nullptr) return true;
  const Node* const node = graph.writer(name);
  const TensorData* const from = node != nullptr ? graph.constant(node->inputs.at(0)) : nullptr;
  return from != nullptr && from->bytes.view.size() < most_folded;
}

/// Whether quantized_weights does better: on the CPU a product that unpacks its weights takes less time than one of
/// integers, and no more memory.
bool is_left_packed(const GraphEditor& graph, const Node& node, const QuantizedFactors& of) {
  if (graph.model().device != DeviceType::cpu || graph.rank_of(of.w.numbers) != 2 ||
      !is_constant_soon(graph, of.w.numbers))
    return false;
  if (is(node, "Gemm"))
    return !node.flag("transA", false) && node.real("alpha", 1) == 1 &&
           (!node.has_input(2) || node.real("beta", 1) == 1);
  return is(node, "MatMul");
}

std::int64_t at_least(std::int64_t opset, const Node& node) { return std::max(opset, node.opset); }

/// The name of a bias, one number for each output of a convolution, in the shape that is added to images of that rank.
std::string spread(GraphEditor& graph, const Node& before, const std::string& bias,
                   std::size_t rank) {
  std::vector<std::int64_t> extents(rank - 1, 1);
  extents[0] = -1;
  Node shaped = make_node("Reshape", at_least(13, before),
                          {bias, graph.add_constant(bias, tensor_of(extents))});
  shaped.outputs = {graph.fresh(bias)};
  return graph.insert(std::move(shaped), before).outputs[0];
}

/// `made` takes the place of `node`, and what is added to it.
void put(GraphEditor& graph, Node& node, Node made, const std::string& bias) {
  if (bias.empty()) {
    graph.replace(node, std::move(made));
    return;
  }
  made.outputs = {graph.fresh(node.outputs.at(0))};
  Node sum = make_node("Add", at_least(13, node), {made.outputs[0], bias});
  graph.insert(std::move(made), node);
  graph.replace(node, std::move(sum));
}

void rewrite_gemm(GraphEditor& graph, Node& node, const QuantizedFactors& of) {
  if (!graph.model().operators->find(microsoft, "QGemm")) return;
  Node made = make_node("QGemm", 1,
                        {of.x.numbers, of.x.scale, zero_point_of(graph, of.x), of.w.numbers,
                         of.w.scale, zero_point_of(graph, of.w)});
  made.domain = microsoft;
  for (const Attribute& one : node.attributes)
    if (one.name == "alpha" || one.name == "transA" || one.name == "transB")
      made.attributes.push_back(one);
  std::string bias = node.has_input(2) ? node.inputs[2] : std::string{};
  if (const auto beta = static_cast<double>(node.real("beta", 1)); beta != 1 && !bias.empty()) {
    const std::string factor =
        graph.add_constant(bias, tensor_of(std::vector{beta}, {}, ElementType::f32));
    Node scaled = make_node("Mul", at_least(13, node), {bias, factor});
    scaled.outputs = {graph.fresh(bias)};
    bias = graph.insert(std::move(scaled), node).outputs[0];
  }
  put(graph, node, std::move(made), bias);
}

void rewrite_others(GraphEditor& graph, Node& node, const QuantizedFactors& of) {
  const bool is_conv = is(node, "Conv");
  const auto rank = graph.rank_of(of.w.numbers);
  if (is_conv && (!rank || *rank < 3 || *rank > most_rank)) return;
  Node sums = make_node(is_conv ? "ConvInteger" : "MatMulInteger", at_least(10, node),
                        {of.x.numbers, of.w.numbers});
  if (!of.x.zero_point.empty() || !of.w.zero_point.empty()) sums.inputs.push_back(of.x.zero_point);
  if (!of.w.zero_point.empty()) sums.inputs.push_back(of.w.zero_point);
  if (is_conv) sums.attributes = node.attributes;
  std::erase_if(sums.attributes, [](const Attribute& one) { return one.name == "winograd"; });
  sums.outputs = {graph.fresh(node.outputs.at(0))};
  const std::vector<double> scales = of.scales();
  std::vector<std::int64_t> dims;
  if (scales.size() != 1) dims.push_back(static_cast<std::int64_t>(scales.size()));
  const std::string scale =
      graph.add_constant(of.w.scale, tensor_of(scales, std::move(dims), ElementType::f32));
  Node made = make_node("DequantizeLinear", at_least(13, node), {sums.outputs[0], scale});
  if (scales.size() != 1)
    made.attributes.push_back(attribute("axis", std::int64_t{is_conv ? 1 : -1}));
  graph.insert(std::move(sums), node);
  put(graph, node, std::move(made),
      node.has_input(2) ? spread(graph, node, node.inputs[2], *rank) : std::string{});
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const auto factors = quantized_factors(graph, node);
    int steps = most_steps;
    if (!factors || !is_fixed(graph, factors->w.numbers, steps) ||
        is_left_packed(graph, node, *factors))
      return;
    is(node, "Gemm") ? rewrite_gemm(graph, node, *factors) : rewrite_others(graph, node, *factors);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "quantized_sums",
             .summary =
                 "Conv, MatMul and Gemm of dequantized 8-bit integers and constant 8-bit weights "
                 "become ConvInteger, MatMulInteger and QGemm where quantized_products does not "
                 "apply; on the CPU, MatMul and Gemm are left to quantized_weights",
             .level = Optimize::all,
             .stage = PassStage::integers,
             .run = &run});
}

}  // namespace stoker::onnx::passes::quantized_sums
