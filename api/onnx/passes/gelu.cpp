// GELU as exporters write it out. https://onnx.ai/onnx/operators/onnx__Gelu.html
//
//     0.5 · x · (1 + erf(x / √2))
//     0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
#include <cmath>
#include <numbers>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/patterns.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::gelu {
namespace {

constexpr double cubic = 0.044715;

/// Whether `name` is number · x^power.
bool is_power(const GraphEditor& graph, const std::string& name, double number, int power,
              const std::string& x) {
  const Product product = product_of(graph, name);
  if (!is_near(product.number, number)) return false;
  int found = 0;
  for (const std::string& factor : product.factors) {
    if (factor == x) {
      ++found;
    } else if (squared(graph, factor) == x) {
      found += 2;
    } else if (const Node* const node = private_writer(graph, factor, "Pow")) {
      if (node->inputs.at(0) != x || !is_scalar(graph, node->inputs.at(1), 3)) return false;
      found += 3;
    } else {
      return false;
    }
  }
  return found == power;
}

/// √(2/π) · (x + 0.044715 · x³), or √(2/π) · x · (1 + 0.044715 · x²).
bool is_inside_of_tanh(const GraphEditor& graph, const std::string& name, const std::string& x) {
  const Product product = product_of(graph, name);
  if (!is_near(product.number, std::sqrt(2 / std::numbers::pi))) return false;
  if (product.factors.size() == 1) {
    const Node* const sum = private_writer(graph, product.factors[0], "Add");
    if (sum == nullptr) return false;
    for (std::size_t i = 0; i < 2; ++i)
      if (sum->inputs[i] == x && is_power(graph, sum->inputs[1 - i], cubic, 3, x)) return true;
    return false;
  }
  if (product.factors.size() != 2) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* const sum = private_writer(graph, product.factors[1 - i], "Add");
    if (product.factors[i] != x || sum == nullptr) continue;
    const auto term = beside_sum(graph, *sum, 1);
    if (term && is_power(graph, *term, cubic, 2, x)) return true;
  }
  return false;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const Product product = product_of(graph, node);
    if (!product.is(0.5, 2)) return;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& x = product.factors[i];
      const Node* const sum = private_writer(graph, product.factors[1 - i], "Add");
      const auto function = sum == nullptr ? std::nullopt : beside_sum(graph, *sum, 1);
      if (!function) continue;
      const Node* const erf = private_writer(graph, *function, "Erf");
      const Node* const tanh = private_writer(graph, *function, "Tanh");
      if (erf != nullptr && is_power(graph, erf->inputs[0], std::numbers::sqrt2 / 2, 1, x)) {
        graph.replace(node, make_node("Gelu", 20, {x}));
        return;
      }
      if (tanh != nullptr && is_inside_of_tanh(graph, tanh->inputs[0], x)) {
        graph.replace(node,
                      make_node("Gelu", 20, {x}, {attribute("approximate", std::string{"tanh"})}));
        return;
      }
    }
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "gelu",
             .summary = "GELU that is composed of other operators, with Erf or Tanh, becomes Gelu",
             .level = Optimize::all,
             .stage = PassStage::patterns,
             .run = &run});
}

}  // namespace stoker::onnx::passes::gelu
