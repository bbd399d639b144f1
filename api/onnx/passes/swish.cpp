// x · sigmoid(α x), also called SiLU. https://onnx.ai/onnx/operators/onnx__Swish.html
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"

namespace stoker::onnx::passes::swish {
namespace {

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const Product product = product_of(graph, node);
    if (!product.is(1, 2)) return;
    for (std::size_t i = 0; i < 2; ++i) {
      const Node* const sigmoid = private_writer(graph, product.factors[1 - i], "Sigmoid");
      if (sigmoid == nullptr) continue;
      const Product inside = product_of(graph, sigmoid->inputs[0]);
      if (inside.factors != std::vector{product.factors[i]}) continue;
      graph.replace(node, make_node("Swish", 24, {product.factors[i]},
                                    {attribute("alpha", static_cast<float>(inside.number))}));
      return;
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "swish",
             .summary = "x · sigmoid(α x) becomes Swish",
             .level = Optimize::all,
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::swish
