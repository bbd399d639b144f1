#include "onnx_damage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "stoker/api/onnx/core/operator.hpp"

namespace stoker::fuzz::onnx_run {
namespace {

using namespace stoker::onnx;
using Graph = stoker::onnx::Graph;  // the other one is of tensor programs

float real(Decisions& decisions) {
  static constexpr std::array known{0.0F,
                                    -1.0F,
                                    0.5F,
                                    3.0F,
                                    1e-30F,
                                    -1e30F,
                                    std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN()};
  return known[decisions.below(known.size())];
}

void damage(TensorData& tensor, Decisions& decisions) {
  const std::span<const std::byte> old = tensor.bytes.view;
  std::vector<std::byte> bytes{old.begin(), old.end()};
  if (tensor.type == ElementType::s64 && bytes.size() >= sizeof(std::int64_t)) {
    const std::size_t place = decisions.below(bytes.size() / sizeof(std::int64_t));
    const std::int64_t number = decisions.integer();
    std::memcpy(bytes.data() + place * sizeof number, &number, sizeof number);
  } else if (tensor.type == ElementType::f32 && bytes.size() >= sizeof(float)) {
    const std::size_t place = decisions.below(bytes.size() / sizeof(float));
    const float number = real(decisions);
    std::memcpy(bytes.data() + place * sizeof number, &number, sizeof number);
  } else if (!bytes.empty()) {
    bytes[decisions.below(bytes.size())] = static_cast<std::byte>(decisions.byte());
  }
  tensor.bytes = SharedBytes::own(std::move(bytes));
  // The same elements in other dimensions.
  if (decisions.flag() && !tensor.dims.empty()) {
    if (decisions.flag())
      std::swap(tensor.dims.front(), tensor.dims.back());
    else
      tensor.dims.insert(tensor.dims.begin(), 1);
  }
}

struct DamageAttribute {
  Decisions& decisions;

  void operator()(std::int64_t& one) const { one = decisions.integer(); }
  void operator()(float& one) const { one = real(decisions); }
  void operator()(std::string& text) const { text = decisions.flag() ? "" : text + "x"; }
  void operator()(TensorData& tensor) const { damage(tensor, decisions); }
  void operator()(std::vector<std::int64_t>& list) const {
    if (list.empty() || decisions.below(4) == 0)
      list.push_back(decisions.integer());
    else if (decisions.below(4) == 0)
      list.pop_back();
    else
      list[decisions.below(list.size())] = decisions.integer();
  }
  void operator()(std::vector<float>& list) const {
    if (!list.empty()) list[decisions.below(list.size())] = real(decisions);
  }
  void operator()(GraphPtr& graph) const {
    Graph copy = *graph;
    onnx_run::damage(copy, decisions);
    graph = std::make_shared<const Graph>(std::move(copy));
  }
  template <class T> void operator()(T&) const {}
};

void damage(Node& node, std::span<const std::string> names, Decisions& decisions) {
  static const auto operators = OperatorTable::standard().list();
  switch (decisions.below(6)) {
    case 0: {
      const auto& other =
          *operators[(decisions.byte() * std::size_t{256} + decisions.byte()) % operators.size()];
      node.op = other.name;
      node.domain = other.domain;
      break;
    }
    case 1:
      if (!node.inputs.empty())
        node.inputs[decisions.below(node.inputs.size())] =
            decisions.below(4) == 0 || names.empty() ? std::string{}
                                                     : names[decisions.below(names.size())];
      break;
    case 2:
      if (node.inputs.size() > 1) std::swap(node.inputs.front(), node.inputs.back());
      break;
    case 3:
      if (!node.attributes.empty())
        node.attributes.erase(node.attributes.begin() +
                              static_cast<std::ptrdiff_t>(decisions.below(node.attributes.size())));
      break;
    default:
      if (!node.attributes.empty())
        std::visit(DamageAttribute{decisions},
                   node.attributes[decisions.below(node.attributes.size())].value);
      break;
  }
}

void damage(ValueInfo& input, Decisions& decisions) {
  if (!input.type.dims || input.type.dims->empty()) return;
  if (decisions.below(4) == 0) {
    input.type.dims->pop_back();
    return;
  }
  Dimension& one = (*input.type.dims)[decisions.below(input.type.dims->size())];
  one = {.extent = decisions.in(0, 8), .symbol = {}};
}

}  // namespace

void damage(Graph& graph, Decisions& decisions) {
  const std::size_t kind = decisions.below(8);
  if (kind == 0 && !graph.inputs.empty())
    return damage(graph.inputs[decisions.below(graph.inputs.size())], decisions);
  if (kind < 3 && !graph.initializers.empty())
    return damage(graph.initializers[decisions.below(graph.initializers.size())].tensor, decisions);
  if (graph.nodes.empty()) return;
  const std::size_t place = decisions.below(graph.nodes.size());
  std::vector<std::string> names;
  for (const ValueInfo& input : graph.inputs) names.push_back(input.name);
  for (const Initializer& constant : graph.initializers) names.push_back(constant.name);
  for (std::size_t i = 0; i < place; ++i)
    names.insert(names.end(), graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end());
  damage(graph.nodes[place], names, decisions);
}

}  // namespace stoker::fuzz::onnx_run
