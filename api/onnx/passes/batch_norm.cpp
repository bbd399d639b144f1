// Batch normalization behind a convolution or a product: a factor and a shift for each channel, which go into its
// weights and bias.
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/product_weights.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::batch_norm {
namespace {

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    if (!is(node, "BatchNormalization")) return;
    const auto product = weighted_product(graph, node.inputs.at(0));
    // The channels are the second axis, which is a product's last one only of a matrix.
    if (!product || (product->result.behind == 0 && product->result.rank != 2)) return;
    const auto numbers = normalization_of(graph, node, product->result.count);
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
        tensor_of(numbers->shift, {static_cast<std::int64_t>(numbers->shift.size())},
                  product->result.type));
    graph.replace(node, make_node("Add", std::max<std::int64_t>(node.opset, 7), {result, shift}));
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "batch_norm",
             .summary = "BatchNormalization is merged into the weights of the Conv, ConvTranspose, "
                        "Gemm or MatMul before it",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .run = &run});
}

}  // namespace stoker::onnx::passes::batch_norm
