#include "stoker/api/onnx/optimize/product_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
  const std::size_t channels = product.result.count;
  if (!is_computed(bias) || bias->type != product.result.type || !reals_of(bias)) return false;
  if (!is(node, "Gemm")) return bias->dims.size() == 1 && extent(*bias, 0) == channels;
  // A number for each column, or one for all.
  return bias->elements() == 1 ||
         (bias->elements() == channels && static_cast<std::size_t>(bias->dims.back()) == channels);
}

/// The channel of the result for each element of the weights.
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

/// The same of the operand.
std::function<std::size_t(std::size_t)> operand_channel_of(const Node& node,
                                                           const TensorData& weights,
                                                           std::size_t channels) {
  if (is(node, "Conv")) {
    const std::size_t of_group = extent(weights, 1);
    const std::size_t each = weights.elements() / (extent(weights, 0) * of_group);
    const std::size_t outputs = extent(weights, 0) / (channels / of_group);
    return [=](std::size_t at) {
      const std::size_t output = at / (each * of_group);
      return output / outputs * of_group + at / each % of_group;
    };
  }
  if (is(node, "Gemm") && node.flag("transB", false))
    return [channels](std::size_t at) { return at % channels; };
  const std::size_t each = weights.elements() / channels;
  return [each](std::size_t at) { return at / each; };
}

bool is_finite(double number, ElementType type) {
  return type == ElementType::f64 ? std::isfinite(number)
                                  : std::isfinite(static_cast<float>(number));
}
bool are_finite(std::span<const double> numbers, ElementType type) {
  return std::ranges::all_of(numbers, [&](double number) { return is_finite(number, type); });
}

/// As the product adds it; empty if it has none.
std::vector<double> bias_of(const GraphEditor& graph, const WeightedProduct& product) {
  const Node& node = *product.node;
  if (!node.has_input(2)) return {};
  const double beta = is(node, "Gemm") ? static_cast<double>(node.real("beta", 1)) : 1;
  const std::vector<double> before = *reals_of(graph.constant(node.inputs[2]));
  std::vector<double> bias(product.result.count);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = beta * before[before.size() == 1 ? 0 : i];
  return bias;
}

/// Whether each element of the result meets all weights of its channel.
bool meets_all_weights(const Node& node) {
  if (is(node, "ConvTranspose")) return false;
  if (!is(node, "Conv")) return true;
  const auto* const pads = node.integers("pads");
  const std::string rule = node.text("auto_pad", "NOTSET");
  return rule == "VALID" ||
         (rule == "NOTSET" &&
          (pads == nullptr || std::ranges::all_of(*pads, [](auto one) { return one == 0; })));
}

/// Whether the weights times these factors, one for each channel of the operand, have all of their digits. What they
/// multiply may be so large that the result shows it.
bool stay_exact(const WeightedProduct& product, const TensorData& weights,
                std::span<const double> factor) {
  const auto channel = operand_channel_of(*product.node, weights, product.operand->count);
  const double least = weights.type == ElementType::f64
                           ? std::numeric_limits<double>::min()
                           : static_cast<double>(std::numeric_limits<float>::min());
  bool exact = true;
  for_each(weights, [&](std::size_t at, double number) {
    const double by = factor[channel(at)];
    exact = exact && (by == 0 || std::abs(number) < least || std::abs(number * by) >= least);
  });
  return exact;
}

/// What these numbers, one for each channel of the operand, add to each channel of the result.
std::vector<double> product_of_shift(const WeightedProduct& product, const TensorData& weights,
                                     std::span<const double> shift) {
  const Node& node = *product.node;
  const double alpha = is(node, "Gemm") ? static_cast<double>(node.real("alpha", 1)) : 1;
  const auto from = operand_channel_of(node, weights, product.operand->count);
  const auto to = channel_of(node, weights, product.result.count);
  std::vector<double> sums(product.result.count, 0);
  for_each(weights, [&](std::size_t at, double number) {
    sums[to(at)] += alpha * number * shift[from(at)];
  });
  return sums;
}

/// `bias` takes the place of the bias unless it is empty, and the weights are multiplied by `factor` unless that is
/// null. `more`: bytes that come besides. False, and nothing has changed, as absorb() says.
bool rewrite(GraphEditor& graph, const WeightedProduct& product, std::span<const double> bias,
             const std::function<double(std::size_t)>& factor, std::size_t more = 0) {
  Node& node = *product.node;
  const std::string weights_name = node.inputs[1];
  const std::string bias_name = node.has_input(2) ? node.inputs[2] : std::string{};
  if (!are_finite(bias, product.result.type)) return false;
  std::size_t bytes = more + bias.size() * (bits_of(product.result.type) / 8);
  std::vector<std::string> replaced;
  if (!bias_name.empty() && !bias.empty()) replaced.push_back(bias_name);
  if (factor) {
    bytes += graph.constant(weights_name)->bytes.view.size();
    replaced.push_back(weights_name);
  }
  if (!graph.affords(bytes, replaced)) return false;
  std::optional<TensorData> weights;
  if (factor) {
    weights = scaled(*graph.constant(weights_name), factor);
    if (!weights) return false;
  }
  if (!bias.empty()) {
    graph.set_input(node, 2,
                    graph.add_constant(bias_name.empty() ? weights_name : bias_name,
                                       tensor_of(bias, {static_cast<std::int64_t>(bias.size())},
                                                 product.result.type)));
    graph.drop_attribute(node, "beta");
  }
  if (weights) graph.set_input(node, 1, graph.add_constant(weights_name, std::move(*weights)));
  return true;
}

bool changes(std::span<const double> numbers, double neutral) {
  return std::ranges::any_of(numbers, [&](double one) { return one != neutral; });
}

}  // namespace

std::optional<WeightedProduct> weighted_product(const GraphEditor& graph, Node& node) {
  if (node.inputs.size() < 2) return {};
  const TensorData* const weights = graph.constant(node.inputs[1]);
  if (!is_computed(weights) || weights->elements() == 0) return {};
  WeightedProduct product{.node = &node};
  product.takes_bias = !is(node, "MatMul");
  const std::size_t axes = weights->dims.size();
  Channels operand{.type = weights->type};
  Channels& result = product.result;
  result.type = weights->type;
  if (is(node, "Conv") || is(node, "ConvTranspose")) {
    const auto groups = axes < 3 ? std::nullopt : groups_of(node, *weights);
    if (!groups) return {};
    result.count = extent(*weights, 0);
    operand.count = extent(*weights, 1) * *groups;
    if (is(node, "ConvTranspose")) std::swap(result.count, operand.count);
    result.rank = operand.rank = axes;
    result.behind = operand.behind = axes - 2;
  } else if (is(node, "Gemm") && node.opset >= 7 && axes == 2) {
    const bool turned = node.flag("transB", false);
    result.count = extent(*weights, turned ? 0 : 1);
    operand.count = extent(*weights, turned ? 1 : 0);
    result.rank = operand.rank = 2;
  } else if (is(node, "MatMul") && axes == 2) {
    result.count = extent(*weights, 1);
    operand.count = extent(*weights, 0);
    result.rank = operand.rank = graph.rank_of(node.inputs[0]);
  } else {
    return {};
  }
  if (!is(node, "Gemm") || !node.flag("transA", false)) product.operand = operand;
  if (!has_computed_bias(graph, node, product)) return {};
  return product;
}

std::optional<WeightedProduct> weighted_product(const GraphEditor& graph, std::string_view result) {
  Node* const node = graph.is_read_once(result) ? graph.writer(result) : nullptr;
  return node == nullptr ? std::nullopt : weighted_product(graph, *node);
}

bool absorb(GraphEditor& graph, const WeightedProduct& product, std::span<const double> factor,
            std::span<const double> shift) {
  const Node& node = *product.node;
  if (!are_finite(factor, product.result.type)) return false;
  std::vector<double> bias = bias_of(graph, product);
  if (bias.empty() && !shift.empty()) bias.assign(factor.size(), 0);
  for (std::size_t i = 0; i < bias.size(); ++i)
    bias[i] = bias[i] * factor[i] + (shift.empty() ? 0 : shift[i]);
  if (!changes(factor, 1)) return rewrite(graph, product, bias, nullptr);
  const auto channel = channel_of(node, *graph.constant(node.inputs[1]), product.result.count);
  return rewrite(graph, product, bias, [&](std::size_t at) { return factor[channel(at)]; });
}

Node* absorb_before(GraphEditor& graph, const WeightedProduct& product,
                    const ScaleAndShift& scale) {
  Node& node = *product.node;
  const ElementType type = product.result.type;
  if (!are_finite(scale.factor, type) || !are_finite(scale.shift, type)) return nullptr;
  const std::string weights_name = node.inputs[1];
  const TensorData& weights = *graph.constant(weights_name);
  std::vector<double> shift;  // of the result
  if (changes(scale.shift, 0)) {
    // x - m is exact where x is near m, but x·w - m·w has lost what m is larger than the difference.
    constexpr double largest_shift = 16;
    const auto is_large = [](double one) { return std::abs(one) > largest_shift; };
    if (!meets_all_weights(node) || std::ranges::any_of(scale.shift, is_large)) return nullptr;
    shift = product_of_shift(product, weights, scale.shift);
  }
  std::function<double(std::size_t)> factor;
  if (changes(scale.factor, 1) && !stay_exact(product, weights, scale.factor)) return nullptr;
  if (changes(scale.factor, 1))
    factor = [&, channel = operand_channel_of(node, weights, product.operand->count)](
                 std::size_t at) { return scale.factor[channel(at)]; };
  if (product.takes_bias || shift.empty()) {
    const std::vector<double> before =
        shift.empty() ? std::vector<double>{} : bias_of(graph, product);
    for (std::size_t i = 0; i < before.size(); ++i) shift[i] += before[i];
    return rewrite(graph, product, shift, factor) ? &node : nullptr;
  }
  if (!are_finite(shift, type) ||
      !rewrite(graph, product, {}, factor, shift.size() * (bits_of(type) / 8)))
    return nullptr;
  Node only = node;
  const std::string result = graph.fresh(node.outputs.at(0));
  only.outputs = {result};
  Node& made = graph.insert(std::move(only), node);
  const std::string added = graph.add_constant(
      weights_name, tensor_of(shift, {static_cast<std::int64_t>(shift.size())}, type));
  graph.replace(node, make_node("Add", std::max<std::int64_t>(node.opset, 7), {result, added}));
  return &made;
}

}  // namespace stoker::onnx
