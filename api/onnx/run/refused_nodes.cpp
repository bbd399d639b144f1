#include "stoker/api/onnx/run/refused_nodes.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

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

void add_refused(const Graph& graph, const OperatorTable& operators, std::vector<RefusedNode>& to) {
  for (const Node& node : graph.nodes) {
    const auto definition = operators.find(node.domain, node.op);
    if (std::string why = why_not(node, definition.get(), operators); !why.empty())
      to.push_back({&node, std::move(why)});
    for (const Graph* inner : graphs_of(node)) add_refused(*inner, operators, to);
  }
}

}  // namespace

std::string RefusedNode::to_string() const {
  return node->place() + ", domain '" + (node->domain.empty() ? "ai.onnx" : node->domain) +
         "', opset " + std::to_string(node->opset) + ": " + why;
}

std::vector<RefusedNode> refused_nodes(const Graph& graph, const OperatorTable& operators) {
  std::vector<RefusedNode> refused;
  add_refused(graph, operators, refused);
  return refused;
}

}  // namespace stoker::onnx
