#include "stoker/api/onnx/optimize/patterns.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx {
namespace {

/// Written-out operators are short.
constexpr int deepest = 8;

/// A number to compare. Not of f64: patterns have numbers as f32 rounds them.
std::optional<double> number_of(const GraphEditor& graph, std::string_view name) {
  const TensorData* const tensor = graph.constant(name);
  return tensor == nullptr || tensor->type == ElementType::f64 ? std::nullopt
                                                               : scalar_of(graph, name);
}

/// Whether it multiplies, and all axes are aligned at the last one: before version 7 an attribute says where.
bool is_product(const GraphEditor& graph, const Node& node) {
  return node.opset >= 7 &&
         (is(node, "Mul") || (is(node, "Div") && number_of(graph, node.inputs.at(1))));
}

void multiply(const GraphEditor& graph, const Node& node, int depth, Product& product);

void multiply(const GraphEditor& graph, const std::string& name, int depth, Product& product) {
  if (const auto number = number_of(graph, name)) {
    product.number *= *number;
    return;
  }
  const Node* const node = graph.is_read_once(name) ? graph.writer(name) : nullptr;
  if (node != nullptr && depth < deepest && is_product(graph, *node))
    multiply(graph, *node, depth + 1, product);
  else
    product.factors.push_back(name);
}

void multiply(const GraphEditor& graph, const Node& node, int depth, Product& product) {
  multiply(graph, node.inputs.at(0), depth, product);
  if (is(node, "Div"))
    product.number /= *number_of(graph, node.inputs.at(1));
  else
    multiply(graph, node.inputs.at(1), depth, product);
}

/// The square root of what, if `name` is one over it.
std::optional<std::string> inverse_root(const GraphEditor& graph, const std::string& name) {
  if (const Node* const one = private_writer(graph, name, "Reciprocal")) {
    const Node* const root = private_writer(graph, one->inputs[0], "Sqrt");
    return root == nullptr ? std::nullopt : std::optional{root->inputs[0]};
  }
  if (const Node* const one = private_writer(graph, name, "Div")) {
    const Node* const root = private_writer(graph, one->inputs[1], "Sqrt");
    return root == nullptr || !is_scalar(graph, one->inputs[0], 1) ? std::nullopt
                                                                   : std::optional{root->inputs[0]};
  }
  return {};
}

/// A value over the square root of another one.
struct OverRoot {
  std::string value, under;
};
std::optional<OverRoot> over_root(const GraphEditor& graph, const std::string& name) {
  if (const Node* const division = private_writer(graph, name, "Div"))
    if (const Node* const root = private_writer(graph, division->inputs[1], "Sqrt"))
      return OverRoot{division->inputs[0], root->inputs[0]};
  if (const Node* const product = private_writer(graph, name, "Mul"))
    for (std::size_t i = 0; i < 2; ++i)
      if (const auto under = inverse_root(graph, product->inputs[i]))
        return OverRoot{product->inputs[1 - i], *under};
  return {};
}

}  // namespace

bool Product::is(double wanted, std::size_t count) const {
  return factors.size() == count && is_near(number, wanted);
}

Product product_of(const GraphEditor& graph, const std::string& name) {
  Product product;
  multiply(graph, name, 0, product);
  return product;
}

Product product_of(const GraphEditor& graph, const Node& node) {
  Product product;
  if (is_product(graph, node)) multiply(graph, node, 0, product);
  return product;
}

std::optional<std::string> beside_sum(const GraphEditor& graph, const Node& node, double number) {
  for (std::size_t i = 0; i < 2; ++i)
    if (const auto found = number_of(graph, node.inputs.at(i)); found && is_near(*found, number))
      return node.inputs.at(1 - i);
  return {};
}

bool is_near(double a, double b) { return std::abs(a - b) <= 2e-6 * std::abs(b); }

Node* private_writer(const GraphEditor& graph, std::string_view name, std::string_view op) {
  return graph.is_read_once(name) ? graph.writer(name, op) : nullptr;
}

std::optional<std::string> squared(const GraphEditor& graph, std::string_view name) {
  const Node* const node = graph.is_read_once(name) ? graph.writer(name) : nullptr;
  if (node == nullptr) return {};
  if (is(*node, "Pow") && is_scalar(graph, node->inputs.at(1), 2)) return node->inputs.at(0);
  if (is(*node, "Mul") && node->inputs.at(0) == node->inputs.at(1)) return node->inputs.at(0);
  return {};
}

std::optional<std::vector<std::int64_t>> kept_axes(const GraphEditor& graph, const Node& node) {
  if (!node.flag("keepdims", true)) return {};
  std::optional<std::vector<std::int64_t>> axes;
  if (const auto* given = node.integers("axes")) axes = *given;
  if (node.has_input(1)) axes = integers_of(graph.constant(node.inputs[1]));
  if (!axes || axes->empty()) return {};
  std::ranges::sort(*axes);
  return axes;
}

std::optional<std::vector<std::int64_t>> part_sizes(const GraphEditor& graph, const Node& node) {
  if (node.has_input(1)) return integers_of(graph.constant(node.inputs[1]));
  if (const auto* given = node.integers("split")) return *given;
  return {};
}

std::optional<Normalized> normalized_by(const GraphEditor& graph, const Node& node) {
  if (!is(node, "Mul") || node.opset < 7) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const TensorData* const scale = graph.constant(node.inputs.at(i));
    if (scale == nullptr || scale->type != ElementType::f32 || scale->dims.empty()) continue;
    const auto quotient = over_root(graph, node.inputs.at(1 - i));
    if (!quotient) return {};
    const Node* const sum = private_writer(graph, quotient->under, "Add");
    if (sum == nullptr) return {};
    for (std::size_t k = 0; k < 2; ++k) {
      const auto epsilon = scalar_of(graph, sum->inputs[k]);
      const Node* const mean = private_writer(graph, sum->inputs[1 - k], "ReduceMean");
      if (!epsilon || !(*epsilon > 0) || mean == nullptr) continue;
      const auto square = squared(graph, mean->inputs[0]);
      const auto axes = kept_axes(graph, *mean);
      if (!square || *square != quotient->value || !axes) return {};
      const auto count = static_cast<std::int64_t>(axes->size());
      const auto rank = graph.rank_of(quotient->value);
      const std::int64_t first =
          axes->front() < 0 || !rank ? -count : static_cast<std::int64_t>(*rank) - count;
      for (std::int64_t at = 0; at < count; ++at)
        if ((*axes)[static_cast<std::size_t>(at)] != first + at) return {};
      if (scale->dims.size() != axes->size()) return {};
      return Normalized{*square, *axes, axes->size(), *epsilon, node.inputs.at(i)};
    }
  }
  return {};
}

std::optional<ClipBounds> clip_bounds(const GraphEditor& graph, const Node& node) {
  if (is(node, "Relu")) return ClipBounds{.least = 0};
  if (!is(node, "Clip")) return {};
  ClipBounds bounds;
  if (node.opset < 11) {
    if (node.has("min")) bounds.least = static_cast<double>(node.real("min"));
    if (node.has("max")) bounds.most = static_cast<double>(node.real("max"));
  } else {
    for (std::size_t i = 1; i <= 2; ++i) {
      if (!node.has_input(i)) continue;
      const auto bound = scalar_of(graph, node.inputs[i]);
      if (!bound) return {};
      (i == 1 ? bounds.least : bounds.most) = *bound;
      bounds.type = graph.constant(node.inputs[i])->type;
      const auto dtype = carrier_of(bounds.type);
      if (!dtype || !is_float(*dtype)) return {};
    }
  }
  if (!(bounds.least <= bounds.most)) return {};
  return bounds;
}

}  // namespace stoker::onnx
