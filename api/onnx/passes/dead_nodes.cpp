// Nodes whose results nobody reads, and initializers that nobody reads.
#include <algorithm>
#include <ranges>

#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::dead_nodes {
namespace {

/// Whether other random operators draw the same numbers without it. Those of the model's graph whose results nobody
/// reads draw none; each in a body does.
bool may_go(const GraphEditor& graph, const Node& node) {
  return !graph.is_body() || graph.is_pure(node);
}

void run(GraphEditor& graph) {
  std::vector<Node*> nodes;
  graph.each([&](Node& node) { nodes.push_back(&node); });
  for (Node* const node : nodes | std::views::reverse)
    if (may_go(graph, *node) && std::ranges::none_of(node->outputs, [&](const std::string& name) {
          return !name.empty() && graph.is_read(name);
        }))
      graph.remove(*node);
  graph.remove_unread_constants();
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "dead_nodes",
             .summary = "nodes and initializers that no output needs are removed",
             .run = &run});
}

}  // namespace stoker::onnx::passes::dead_nodes
