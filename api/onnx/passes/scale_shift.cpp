// Constants that multiply, or are added to, the channels of a convolution or a product: they go into its weights and
// bias.
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/product_weights.hpp"

namespace stoker::onnx::passes::scale_shift {
namespace {

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const bool shifts = is(node, "Add") || is(node, "Sub");
    if (!shifts && !is(node, "Mul") && !is(node, "Div")) return;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto product = weighted_product(graph, node.inputs.at(i));
      if (!product || (shifts && !product->takes_bias)) continue;
      const auto numbers = scale_and_shift(graph, node, i, product->result);
      if (!numbers) continue;
      const std::string result = node.inputs[i];
      if (absorb(graph, *product, numbers->factor, shifts ? numbers->shift : std::vector<double>{}))
        graph.forward(node, result);
      return;
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "scale_shift",
             .summary = "Mul, Div, Add and Sub of a constant for each channel are merged into the "
                        "weights and bias of the Conv, ConvTranspose or Gemm before them, Mul and "
                        "Div also into the weights of a MatMul",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .run = &run});
}

}  // namespace stoker::onnx::passes::scale_shift
