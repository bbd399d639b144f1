// Products of one operand with several constants, such as the queries, keys and values of attention: one product with
// the constants side by side, and a Split of its columns.
#include <algorithm>
#include <cstring>

#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx::passes::joined_products {
namespace {

/// A MatMul with a constant matrix, and the Add of a constant for each column, if that is all that reads it.
struct Projection {
  Node* product = nullptr;
  Node* sum = nullptr;  ///< null: there is none
  const TensorData* weights = nullptr;
  const TensorData* bias = nullptr;

  [[nodiscard]] Node& last() const { return sum == nullptr ? *product : *sum; }
};

std::optional<Projection> projection_of(const GraphEditor& graph, Node& node) {
  if (!is(node, "MatMul") || !node.has_output(0) || graph.constant(node.inputs.at(0)) != nullptr)
    return {};
  Projection found{.product = &node, .weights = graph.constant(node.inputs.at(1))};
  if (!is_computed(found.weights) || found.weights->dims.size() != 2 ||
      found.weights->elements() == 0 || !graph.is_read_once(node.inputs[1]))
    return {};
  const std::string& result = node.outputs.at(0);
  if (!graph.is_read_once(result)) return found;
  Node* const sum = graph.readers(result).front();
  // Before version 7 an axis says where the operand lies.
  if (!is(*sum, "Add") || sum->opset < 7) return found;
  const TensorData* const bias = graph.constant(sum->inputs.at(sum->inputs[0] == result ? 1 : 0));
  if (is_computed(bias) && bias->type == found.weights->type && bias->dims.size() == 1 &&
      bias->dims[0] == found.weights->dims[1]) {
    found.sum = sum;
    found.bias = bias;
  }
  return found;
}

/// Matrices with as many rows, side by side; vectors, one after the other.
TensorData joined(std::span<const TensorData* const> parts) {
  TensorData made{.type = parts[0]->type, .dims = parts[0]->dims, .bytes = {}, .strings = {}};
  made.dims.back() = 0;
  for (const TensorData* const part : parts) made.dims.back() += part->dims.back();
  const std::size_t size = bits_of(made.type) / 8;
  const std::size_t rows = made.dims.size() == 1 ? 1 : static_cast<std::size_t>(made.dims[0]);
  std::vector<std::byte> bytes(made.elements() * size);
  std::size_t at = 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (const TensorData* const part : parts) {
      const std::size_t length = static_cast<std::size_t>(part->dims.back()) * size;
      std::memcpy(bytes.data() + at, part->bytes.view.data() + row * length, length);
      at += length;
    }
  made.bytes = SharedBytes::own(std::move(bytes));
  return made;
}

/// Whether weights may be copied: they are not replaced where others read them, too.
bool affords(GraphEditor& graph, const std::vector<Projection>& all) {
  std::size_t bytes = 0;
  std::vector<std::string> replaced;
  for (const Projection& one : all) {
    bytes += one.weights->bytes.view.size();
    replaced.push_back(one.product->inputs[1]);
    if (one.bias == nullptr) continue;
    bytes += one.bias->bytes.view.size();
    replaced.push_back(one.sum->inputs[one.sum->inputs[0] == one.product->outputs[0] ? 1 : 0]);
  }
  return graph.affords(bytes, replaced);
}

void join(GraphEditor& graph, const std::vector<Projection>& all) {
  std::vector<const TensorData*> weights;
  std::vector<const TensorData*> biases;
  std::vector<std::int64_t> widths;
  Node split = make_node("Split", 13, {}, {attribute("axis", std::int64_t{-1})});
  for (const Projection& one : all) {
    weights.push_back(one.weights);
    widths.push_back(one.weights->dims[1]);
    if (one.bias != nullptr) biases.push_back(one.bias);
    split.outputs.push_back(one.last().outputs[0]);
  }
  Node& first = *all.front().product;
  const std::string base = first.inputs[1];
  std::string result = graph.fresh(split.outputs[0]);
  Node product = make_node("MatMul", std::max<std::int64_t>(first.opset, 9),
                           {first.inputs[0], graph.add_constant(base, joined(weights))});
  product.name = first.name;
  product.outputs = {result};
  graph.insert(std::move(product), first);
  if (!biases.empty()) {
    Node sum = make_node("Add", 7, {result, graph.add_constant(base, joined(biases))});
    result = graph.fresh(split.outputs[0]);
    sum.outputs = {result};
    graph.insert(std::move(sum), first);
  }
  split.inputs = {result, graph.add_constant(base, tensor_of(widths))};
  // Whatever reads the parts stands behind the first product.
  for (const Projection& one : all)
    if (one.sum != nullptr) graph.remove(*one.sum);
  for (std::size_t i = 1; i < all.size(); ++i) graph.remove(*all[i].product);
  graph.replace(first, std::move(split));
}

void run(GraphEditor& graph) {
  // By operand, rows, type, and whether there is a bias.
  using Key = std::tuple<std::string, std::int64_t, ElementType, bool>;
  std::map<Key, std::vector<Projection>> groups;
  graph.each([&](Node& node) {
    if (const auto found = projection_of(graph, node))
      groups[{node.inputs[0], found->weights->dims[0], found->weights->type, found->sum != nullptr}]
          .push_back(*found);
  });
  for (const auto& [key, all] : groups)
    if (all.size() >= 3 && affords(graph, all)) join(graph, all);
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "joined_products",
             .summary = "three or more MatMul of one operand with constants, each with an Add of a "
                        "constant or none, "
                        "are one and a Split: queries, keys and values",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .run = &run});
}

}  // namespace stoker::onnx::passes::joined_products
