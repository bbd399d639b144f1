#include "stoker/api/onnx/run/prepared.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

/// How many nodes an error shows.
constexpr std::size_t most_shown = 64;

std::string why_not(const Node& node, const Operator* definition, const OperatorTable& operators) {
  if (definition == nullptr)
    return operators.has_domain(node.domain) ? "there is no such operator"
                                             : "there is no such domain";
  if (node.opset == 0) return "the model imports no version of its domain";
  const int version = version_of(*definition, node.opset);
  if (version == 0)
    return "it is defined from version " + std::to_string(definition->since.front()) + " on";
  if (node.inputs.size() > definition->most_inputs)
    return "it has " + std::to_string(node.inputs.size()) + " operands, " +
           std::to_string(definition->most_inputs) + " at most are known";
  std::size_t given = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.has_input(i)) given = i + 1;
  if (given < definition->least_inputs)
    return "it has " + std::to_string(given) + " operands, " +
           std::to_string(definition->least_inputs) + " are needed";
  if (node.outputs.size() > definition->most_outputs)
    return "it has " + std::to_string(node.outputs.size()) + " results, " +
           std::to_string(definition->most_outputs) + " at most are known";
  for (const Attribute& attribute : node.attributes)
    if (std::ranges::find(definition->attributes, attribute.name) == definition->attributes.end())
      return "the attribute '" + attribute.name + "' is not known";
  return definition->refuse ? definition->refuse(node, version) : "";
}

}  // namespace

struct Prepared::Refused {
  std::size_t count = 0;
  std::vector<Detail> details;

  void add(const Node& node, const std::string& why) {
    if (++count > most_shown) return;
    const std::string what = node.place() + ", domain '" +
                             (node.domain.empty() ? "ai.onnx" : node.domain) + "', opset " +
                             std::to_string(node.opset) + ": " + why;
    details.push_back({"node", what});
  }
};

std::vector<const Graph*> graphs_of(const Node& node) {
  std::vector<const Graph*> found;
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<GraphPtr>(&attribute.value)) found.push_back(one->get());
    if (const auto* all = std::get_if<std::vector<GraphPtr>>(&attribute.value))
      for (const GraphPtr& one : *all) found.push_back(one.get());
  }
  return found;
}

Prepared::Prepared(std::shared_ptr<const ModelFile> file, const OperatorTable& operators)
    : file_{std::move(file)} {
  for (const Initializer& constant : graph().initializers) initializers_.insert(constant.name);
  Refused refused;
  add(graph(), operators, refused);
  if (refused.count > 0)
    throw Error{"onnx.load", ErrorCode::unsupported,
                std::to_string(refused.count) + (refused.count == 1 ? " node" : " nodes") +
                    " cannot be computed",
                std::move(refused.details)};
  find_deciding(graph());
}

PreparedNode Prepared::prepared(const Node& node, const OperatorTable& operators,
                                Refused& refused) {
  PreparedNode made{.node = &node, .definition = operators.find(node.domain, node.op)};
  if (const std::string why = why_not(node, made.definition.get(), operators); !why.empty()) {
    refused.add(node, why);
    return made;
  }
  made.version = version_of(*made.definition, node.opset);
  draws_ |= made.definition->random && !node.has("seed");
  return made;
}

void Prepared::add(const Graph& graph, const OperatorTable& operators, Refused& refused) {
  std::vector<PreparedNode> nodes;
  nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    PreparedNode made = prepared(node, operators, refused);
    for (const Graph* inner : graphs_of(node)) {
      add(*inner, operators, refused);
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
  for (const ValueInfo& input : graph.inputs)
    if (needed.contains(input.name)) deciding_.insert(input.name);
}

}  // namespace stoker::onnx
