#include "stoker/api/onnx/run/refused_nodes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "stoker/api/onnx/types/value_types.hpp"
#include "stoker/pipeline/onnx/graph/shown.hpp"
#include "stoker/pipeline/onnx/reading/findings.hpp"
#include "stoker/pipeline/onnx/reading/function_key.hpp"

namespace stoker::onnx {
namespace {

/// The newest version of each of ONNX's own domains for which Stoker's operators or these were written. In a
/// later one any of them may mean something else. Versions of other domains are their owners' matter.
using Newest = std::map<std::string, std::int64_t, std::less<>>;

Newest newest_versions(const OperatorTable& operators) {
  Newest newest;
  for (const OperatorTable* table : {&OperatorTable::standard(), &operators})
    for (const auto& definition : table->list()) {
      const std::string& domain = definition->domain;
      if (!domain.empty() && !domain.starts_with("ai.onnx.")) continue;
      std::int64_t& version = newest[domain];
      version = std::max<std::int64_t>(version, definition->since.back());
    }
  return newest;
}

std::string why_not(const Node& node, const Operator* definition, const OperatorTable& operators,
                    const Newest& newest) {
  if (const auto known = newest.find(node.domain == "ai.onnx" ? "" : node.domain);
      known != newest.end() && node.opset > known->second)
    return "versions of its domain are known up to " + std::to_string(known->second);
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
  // An attribute that a call of the function around it gives is not there yet.
  if (!definition->refuse ||
      !std::ranges::all_of(node.attributes, &std::string::empty, &Attribute::reference))
    return "";
  try {
    return definition->refuse(node, version);
  } catch (const Error& error) {  // an attribute of another type
    return std::string{error.reason()};
  }
}

/// Finds the nodes of a graph, or of a function, that cannot be computed.
class Refusing {
 public:
  explicit Refusing(const OperatorTable& operators)
      : operators_{operators}, newest_{newest_versions(operators)} {}

  /// In the order of the file; what is known of the nodes' results is added to `types`.
  void add(const std::vector<Node>& nodes, ValueTypes& types) {
    for (const Node& node : nodes) {
      const auto definition = operators_.find(node.domain, node.op);
      std::string why = why_not(node, definition.get(), operators_, newest_);
      const std::vector<ElementType> operands = types.of_operands(node);
      if (why.empty()) why = wrong_operand(definition->types, operands);
      const bool is_refused = !why.empty();
      if (is_refused) refused_.push_back({&node, std::move(why)});
      std::vector<std::vector<ElementType>> bodies;
      for (const Graph* inner : graphs_of(node)) {
        ValueTypes within{*inner, &types};
        add(inner->nodes, within);
        bodies.push_back(within.of_outputs(*inner));
      }
      // Nothing is said of what a refused node gives, so that the nodes behind it are not refused for its sake.
      types.add_results(node, is_refused ? TypeRule{} : definition->types, operands, bodies);
    }
  }
  /// The same, and the nodes that give an output of another type than the graph declares.
  void add(const Graph& graph) {
    ValueTypes types{graph};
    add(graph.nodes, types);
    for (const ValueInfo& output : graph.outputs) {
      const ElementType type = types.of(output.name);
      if (!declares_other(output.type, type)) continue;
      for (const Node& node : graph.nodes)
        if (std::ranges::find(node.outputs, output.name) != node.outputs.end())
          refused_.push_back({&node, "output " + in_quotes(output.name) + " is " +
                                         std::string{to_string(type)} + ", but is declared " +
                                         std::string{to_string(output.type.element)}});
    }
  }
  [[nodiscard]] std::vector<RefusedNode> take() { return std::exchange(refused_, {}); }

 private:
  const OperatorTable& operators_;
  const Newest newest_;
  std::vector<RefusedNode> refused_;
};

}  // namespace

std::string RefusedNode::to_string() const {
  return node->place() + ", domain '" + (node->domain.empty() ? "ai.onnx" : node->domain) +
         "', opset " + std::to_string(node->opset) + ": " + why;
}

std::vector<RefusedNode> refused_nodes(const Graph& graph, const OperatorTable& operators) {
  Refusing refusing{operators};
  refusing.add(graph);
  return refusing.take();
}

ReadOptions listing_refused_nodes(const OperatorTable& operators) {
  const auto add = [&operators](const ModelFile& model, Findings& findings) {
    std::set<FunctionKey> functions;
    for (const Function& function : model.functions) functions.insert(key_of(function));
    Refusing refusing{operators};
    const auto add_found = [&] {
      for (const RefusedNode& one : refusing.take()) {
        // A call is no operator, and what is not imported was found.
        if (functions.contains(called_by(*one.node)) || one.node->opset == 0) continue;
        findings.add(one.node->place(), "cannot be computed: " + one.why);
      }
    };
    refusing.add(model.graph);
    add_found();
    for (const Function& function : model.functions) {
      const std::size_t before = findings.size();
      ValueTypes types;
      refusing.add(function.nodes, types);
      add_found();
      findings.within(before, [&] { return "function " + in_quotes(function.name); });
    }
  };
  return {.find_more = add};
}

}  // namespace stoker::onnx
