// Constants that multiply, or are added to, the channels of a convolution or a product: they go into its weights and
// bias.
#include <algorithm>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/product_weights.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::scale_shift {
namespace {

/// One number for each channel, from a constant that broadcasts to a product's result along no other axis.
std::optional<std::vector<double>> by_channel(const TensorData* tensor,
                                              const WeightedProduct& product) {
  if (tensor == nullptr || tensor->type != product.type) return {};
  const std::size_t axes = tensor->dims.size();
  // Of a MatMul's result only this much is certain: it has columns.
  if (axes > product.rank.value_or(1)) return {};
  for (std::size_t i = 0; i < axes; ++i) {
    const bool is_channel = axes - 1 - i == product.behind;
    const std::int64_t extent = tensor->dims[i];
    if (extent != 1 && !(is_channel && extent == static_cast<std::int64_t>(product.channels)))
      return {};
  }
  auto numbers = reals_of(tensor);
  if (numbers) numbers->resize(product.channels, numbers->at(0));
  return numbers;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const bool scales = is(node, "Mul") || is(node, "Div");
    const bool shifts = is(node, "Add") || is(node, "Sub");
    if ((!scales && !shifts) || node.opset < 7) return;
    const bool turns = is(node, "Div") || is(node, "Sub");
    for (std::size_t i = 0; i < 2; ++i) {
      // c / y is no scale; c - y is -1 times y, plus c.
      if (is(node, "Div") && i == 1) continue;
      const auto product = weighted_product(graph, node.inputs.at(i));
      if (!product || (shifts && !product->takes_bias)) continue;
      auto numbers = by_channel(graph.constant(node.inputs.at(1 - i)), *product);
      if (!numbers) continue;
      std::vector<double> factor(product->channels, 1);
      std::vector<double> shift;
      if (scales) {
        factor = *numbers;
        if (turns)
          for (double& one : factor) one = 1 / one;
      } else {
        shift = *numbers;
        if (turns && i == 0)
          for (double& one : shift) one = -one;
        if (turns && i == 1) factor.assign(product->channels, -1);
      }
      const std::string result = node.inputs[i];
      if (absorb(graph, *product, factor, shift)) graph.forward(node, result);
      return;
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "scale_shift",
             .summary = "Mul, Div, Add and Sub of a constant for each channel go into the weights "
                        "and bias of the Conv, "
                        "ConvTranspose or Gemm before them, Mul and Div into those of a MatMul",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .run = &run});
}

}  // namespace stoker::onnx::passes::scale_shift
