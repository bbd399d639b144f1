#include "stoker/api/onnx/run/prepared.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

/// How many nodes an error shows.
constexpr std::size_t most_shown = 64;

Error error_of(const std::vector<RefusedNode>& refused) {
  std::vector<Detail> details;
  for (const RefusedNode& one : refused)
    if (details.size() < most_shown) details.push_back({"node", one.to_string()});
  return {"onnx.load", ErrorCode::unsupported,
          std::to_string(refused.size()) + (refused.size() == 1 ? " node" : " nodes") +
              " cannot be computed",
          std::move(details)};
}

}  // namespace

Prepared::Prepared(std::shared_ptr<const ModelFile> file, const OperatorTable& operators,
                   PlanChoices choices)
    : file_{std::move(file)}, choices_{choices} {
  for (const Initializer& constant : graph().initializers) initializers_.insert(constant.name);
  if (const auto refused = refused_nodes(graph(), operators); !refused.empty())
    throw error_of(refused);
  add(graph(), operators);
  find_deciding(graph());
}

PreparedNode Prepared::prepared(const Node& node, const OperatorTable& operators) {
  PreparedNode made{.node = &node, .definition = operators.find(node.domain, node.op)};
  made.version = version_of(*made.definition, node.opset);
  draws_ |= made.definition->random && !node.has("seed");
  return made;
}

void Prepared::add(const Graph& graph, const OperatorTable& operators) {
  std::vector<PreparedNode> nodes;
  nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    PreparedNode made = prepared(node, operators);
    for (const Graph* inner : graphs_of(node)) {
      add(*inner, operators);
      // What a subgraph reads and does not have itself.
      std::unordered_set<std::string_view> own;
      for (const ValueInfo& input : inner->inputs) own.insert(input.name);
      for (const Initializer& constant : inner->initializers) own.insert(constant.name);
      const auto read = [&](std::string_view name) {
        if (!name.empty() && !own.contains(name)) made.captured.push_back(name);
      };
      for (const PreparedNode& below : graphs_.at(inner)) {
        for (const std::string& name : below.node->inputs) read(name);
        for (const std::string_view name : below.captured) read(name);
        for (const std::string& name : below.node->outputs) own.insert(name);
      }
      for (const ValueInfo& output : inner->outputs) read(output.name);
    }
    nodes.push_back(std::move(made));
  }
  graphs_.emplace(&graph, std::move(nodes));
  find_last_uses(graph);
}

void Prepared::find_last_uses(const Graph& graph) {
  std::unordered_set<std::string_view> used;
  for (const ValueInfo& output : graph.outputs) used.insert(output.name);
  std::vector<PreparedNode>& nodes = graphs_.at(&graph);
  for (auto one = nodes.rbegin(); one != nodes.rend(); ++one) {
    const auto use = [&](std::string_view name) {
      if (!name.empty() && used.insert(name).second) one->last_uses.push_back(name);
    };
    for (const std::string& name : one->node->outputs) use(name);  // of an output that nobody reads
    for (const std::string& name : one->node->inputs) use(name);
    for (const std::string_view name : one->captured) use(name);
  }
}

void Prepared::find_deciding(const Graph& graph) {
  std::unordered_set<std::string_view> needed;
  // Names are unique in a graph and in those below it, so one set serves all.
  const auto visit = [&](const auto& self, const Graph& within) -> void {
    const std::vector<PreparedNode>& nodes = graphs_.at(&within);
    for (auto one = nodes.rbegin(); one != nodes.rend(); ++one) {
      for (const Graph* inner : graphs_of(*one->node)) {
        for (const ValueInfo& output : inner->outputs)
          for (const std::string& name : one->node->outputs)
            if (needed.contains(name)) needed.insert(output.name);
        self(self, *inner);
      }
      const bool passes_on = one->definition->host &&
                             std::ranges::any_of(one->node->outputs, [&](const std::string& name) {
                               return needed.contains(name);
                             });
      for (std::size_t i = 0; i < one->node->inputs.size(); ++i)
        if (passes_on ||
            std::ranges::find(one->definition->decides, i) != one->definition->decides.end())
          needed.insert(one->node->inputs[i]);
    }
  };
  visit(visit, graph);
  for (const auto& [within, nodes] : graphs_)
    for (const ValueInfo& input : within->inputs)
      if (needed.contains(input.name)) deciding_.insert(input.name);
}

}  // namespace stoker::onnx
