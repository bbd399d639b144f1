// Batch normalization behind a convolution or a product: a factor and a shift for each channel, which go into its
// weights and bias.
#include <cmath>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/product_weights.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::batch_norm {
namespace {

struct ScaleAndShift {
  std::vector<double> factor, shift;
};

/// Nothing if it trains, or if a number is not constant.
std::optional<ScaleAndShift> numbers_of(const GraphEditor& graph, const Node& node,
                                        std::size_t channels) {
  if (node.opset < 7 || node.flag("training_mode", false) || !node.flag("spatial", true)) return {};
  std::vector<double> of[4];  // scale, bias, mean, variance
  for (std::size_t i = 0; i < 4; ++i) {
    const auto numbers = reals_of(graph.constant(node.inputs.at(i + 1)));
    if (!numbers || numbers->size() != channels) return {};
    of[i] = *numbers;
  }
  const auto epsilon = static_cast<double>(node.real("epsilon", 1e-5F));
  ScaleAndShift made;
  for (std::size_t i = 0; i < channels; ++i) {
    made.factor.push_back(of[0][i] / std::sqrt(of[3][i] + epsilon));
    made.shift.push_back(of[1][i] - of[2][i] * made.factor[i]);
  }
  return made;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!is(node, "BatchNormalization") || node.outputs.size() != 1) return;
    const auto product = weighted_product(graph, node.inputs.at(0));
    // The channels are the second axis, which is a product's last one only of a matrix.
    if (!product || (product->behind == 0 && product->rank != 2)) return;
    const auto numbers = numbers_of(graph, node, product->channels);
    if (!numbers) return;
    const std::string result = node.inputs[0];
    if (!absorb(graph, *product, numbers->factor,
                product->takes_bias ? numbers->shift : std::vector<double>{}))
      return;
    if (product->takes_bias) {
      graph.forward(node, result);
      return;
    }
    const std::string shift = graph.add_constant(
        node.inputs[2],
        tensor_of(numbers->shift, {static_cast<std::int64_t>(product->channels)}, product->type));
    graph.replace(node, make_node("Add", std::max<std::int64_t>(node.opset, 7), {result, shift}));
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "batch_norm",
             .summary = "BatchNormalization goes into the weights of the Conv, ConvTranspose, Gemm "
                        "or MatMul before it",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .run = &run});
}

}  // namespace stoker::onnx::passes::batch_norm
