// A state of a Loop that each round only appends to: the body gives what is appended, and the loop joins it once.
#include <algorithm>
#include <memory>
#include <optional>

#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::growing_states {
namespace {

constexpr const char* own_domain = "stoker";
constexpr const char* made_op = "GrowingLoop";

/// How often a graph, or one below it, mentions a value by this name.
std::size_t mentions(const Graph& graph, std::string_view name) {
  std::size_t count = 0;
  for (const ValueInfo& output : graph.outputs) count += output.name == name ? 1 : 0;
  for (const Node& node : graph.nodes) {
    count += static_cast<std::size_t>(std::ranges::count(node.inputs, name));
    for (const Graph* const below : graphs_of(node)) count += mentions(*below, name);
  }
  return count;
}

/// The position of the Concat that makes the state `after` of the state `before`, if the body uses both for nothing
/// else.
std::optional<std::size_t> appending(const Graph& body, const std::string& before,
                                     const std::string& after) {
  const auto writer = std::ranges::find_if(body.nodes, [&](const Node& node) {
    return std::ranges::find(node.outputs, after) != node.outputs.end();
  });
  if (writer == body.nodes.end() || !is(*writer, "Concat") || writer->inputs.size() < 2 ||
      writer->inputs[0] != before || body.initializer(before) != nullptr)
    return {};
  if (mentions(body, before) != 1 || mentions(body, after) != 1) return {};
  return static_cast<std::size_t>(writer - body.nodes.begin());
}

void rewrite(GraphEditor& graph, Node& node) {
  if (!is(node, "Loop") || node.inputs.size() < 3 ||
      !graph.model().operators->find(own_domain, made_op))
    return;
  const std::size_t states = node.inputs.size() - 2;
  const Graph& body = node.graph("body");
  if (body.inputs.size() != states + 2 || body.outputs.size() < states + 1) return;
  std::vector<std::int64_t> growing;
  std::vector<std::int64_t> axes;
  Graph appends = body;
  for (std::size_t i = 0; i < states; ++i) {
    // The host joins texts, and other values know no Concat.
    const ElementType type =
        node.has_input(i + 2) ? graph.type_of(node.inputs[i + 2]) : ElementType::undefined;
    if (type == ElementType::undefined || type == ElementType::string) continue;
    const auto place = appending(body, body.inputs[i + 2].name, body.outputs[i + 1].name);
    if (!place) continue;
    Node& concat = appends.nodes[*place];
    growing.push_back(static_cast<std::int64_t>(i));
    axes.push_back(concat.integer("axis", 1));
    concat.inputs.erase(concat.inputs.begin());
  }
  if (growing.empty()) return;
  Node made = make_node(
      made_op, 1, node.inputs,
      {attribute("body", std::make_shared<const Graph>(std::move(appends))),
       attribute("growing", std::move(growing)), attribute("growing_axes", std::move(axes))});
  made.domain = own_domain;
  graph.replace(node, std::move(made));
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) { rewrite(graph, node); });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "growing_states",
             .summary =
                 "a state of a Loop to which each round only appends, by a Concat, is joined "
                 "once after the last round",
             .run = &run});
}

}  // namespace stoker::onnx::passes::growing_states
