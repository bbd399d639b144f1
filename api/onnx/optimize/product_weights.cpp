#include "stoker/api/onnx/optimize/product_weights.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx {
namespace {

std::size_t extent(const TensorData& tensor, std::size_t axis) {
  return static_cast<std::size_t>(tensor.dims[axis]);
}

/// Groups of a convolution's weights; nothing if they do not divide the channels.
std::optional<std::size_t> groups_of(const Node& node, const TensorData& weights) {
  const std::int64_t groups = node.integer("group", 1);
  if (groups <= 0 || weights.dims[0] % groups != 0) return {};
  return static_cast<std::size_t>(groups);
}

bool has_computed_bias(const GraphEditor& graph, const Node& node, const WeightedProduct& product) {
  if (!node.has_input(2)) return true;
  const TensorData* const bias = graph.constant(node.inputs[2]);
  if (!is_computed(bias) || bias->type != product.type || !reals_of(bias)) return false;
  if (!is(node, "Gemm")) return bias->dims.size() == 1 && extent(*bias, 0) == product.channels;
  // A number for each column, or one for all.
  return bias->elements() == 1 || (bias->elements() == product.channels &&
                                   static_cast<std::size_t>(bias->dims.back()) == product.channels);
}

/// The channel of each element of the weights.
std::function<std::size_t(std::size_t)> channel_of(const Node& node, const TensorData& weights,
                                                   std::size_t channels) {
  if (is(node, "Conv") || (is(node, "Gemm") && node.flag("transB", false))) {
    const std::size_t each = weights.elements() / channels;
    return [each](std::size_t at) { return at / each; };
  }
  if (is(node, "ConvTranspose")) {
    const std::size_t of_group = extent(weights, 1);
    const std::size_t each = weights.elements() / (extent(weights, 0) * of_group);
    const std::size_t rows = extent(weights, 0) / *groups_of(node, weights);
    return [=](std::size_t at) {
      const std::size_t row = at / (each * of_group);
      return row / rows * of_group + at / each % of_group;
    };
  }
  return [channels](std::size_t at) { return at % channels; };
}

bool is_finite(double number, ElementType type) {
  return type == ElementType::f64 ? std::isfinite(number)
                                  : std::isfinite(static_cast<float>(number));
}
bool are_finite(std::span<const double> numbers, ElementType type) {
  return std::ranges::all_of(numbers, [&](double number) { return is_finite(number, type); });
}

/// The bias afterwards; empty if there is none.
std::vector<double> bias_of(const GraphEditor& graph, const WeightedProduct& product,
                            std::span<const double> factor, std::span<const double> shift) {
  const Node& node = *product.node;
  if (!node.has_input(2) && shift.empty()) return {};
  std::vector<double> bias(product.channels, 0);
  if (node.has_input(2)) {
    const double beta = is(node, "Gemm") ? static_cast<double>(node.real("beta", 1)) : 1;
    const std::vector<double> before = *reals_of(graph.constant(node.inputs[2]));
    for (std::size_t i = 0; i < bias.size(); ++i)
      bias[i] = beta * before[before.size() == 1 ? 0 : i];
  }
  for (std::size_t i = 0; i < bias.size(); ++i)
    bias[i] = bias[i] * factor[i] + (shift.empty() ? 0 : shift[i]);
  return bias;
}

}  // namespace

std::optional<WeightedProduct> weighted_product(const GraphEditor& graph, std::string_view result) {
  Node* const node = graph.is_read_once(result) ? graph.writer(result) : nullptr;
  if (node == nullptr || node->inputs.size() < 2) return {};
  const TensorData* const weights = graph.constant(node->inputs[1]);
  if (!is_computed(weights) || weights->elements() == 0) return {};
  WeightedProduct product{.node = node, .type = weights->type};
  product.takes_bias = !is(*node, "MatMul");
  const std::size_t axes = weights->dims.size();
  if (is(*node, "Conv") || is(*node, "ConvTranspose")) {
    const auto groups = axes < 3 ? std::nullopt : groups_of(*node, *weights);
    if (!groups) return {};
    product.channels = is(*node, "Conv") ? extent(*weights, 0) : extent(*weights, 1) * *groups;
    product.rank = axes;
    product.behind = axes - 2;
  } else if (is(*node, "Gemm") && node->opset >= 7 && axes == 2) {
    product.channels = extent(*weights, node->flag("transB", false) ? 0 : 1);
    product.rank = 2;
  } else if (is(*node, "MatMul") && axes == 2) {
    product.channels = extent(*weights, 1);
    product.rank = graph.rank_of(node->inputs[0]);
  } else {
    return {};
  }
  if (!has_computed_bias(graph, *node, product)) return {};
  return product;
}

bool absorb(GraphEditor& graph, const WeightedProduct& product, std::span<const double> factor,
            std::span<const double> shift) {
  Node& node = *product.node;
  const std::string weights_name = node.inputs[1];
  const std::string bias_name = node.has_input(2) ? node.inputs[2] : std::string{};
  const std::vector<double> bias = bias_of(graph, product, factor, shift);
  if (!are_finite(factor, product.type) || !are_finite(bias, product.type)) return false;
  const bool scales = std::ranges::any_of(factor, [](double one) { return one != 1; });
  std::size_t bytes = bias.size() * (bits_of(product.type) / 8);
  std::vector<std::string> replaced;
  if (!bias_name.empty()) replaced.push_back(bias_name);
  if (scales) {
    bytes += graph.constant(weights_name)->bytes.view.size();
    replaced.push_back(weights_name);
  }
  if (!graph.affords(bytes, replaced)) return false;
  std::optional<TensorData> weights;
  if (scales) {
    const TensorData& before = *graph.constant(weights_name);
    const auto channel = channel_of(node, before, product.channels);
    weights = scaled(before, [&](std::size_t at) { return factor[channel(at)]; });
    if (!weights) return false;
  }
  if (!bias.empty()) {
    graph.set_input(node, 2,
                    graph.add_constant(
                        bias_name.empty() ? weights_name : bias_name,
                        tensor_of(bias, {static_cast<std::int64_t>(bias.size())}, product.type)));
    graph.drop_attribute(node, "beta");
  }
  if (weights) graph.set_input(node, 1, graph.add_constant(weights_name, std::move(*weights)));
  return true;
}

}  // namespace stoker::onnx
