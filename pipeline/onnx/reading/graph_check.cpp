#include "stoker/pipeline/onnx/reading/graph_check.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stoker/pipeline/onnx/reading/call_graph.hpp"
#include "stoker/pipeline/onnx/reading/function_key.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

/// The names that nodes of a graph may read, and those of the graphs around it.
struct Scope {
  const Scope* outer = nullptr;
  Names written;

  [[nodiscard]] bool has(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer)
      if (scope->written.contains(name)) return true;
    return false;
  }
};

class Check {
 public:
  Check(const ModelFile& model, Findings& findings) : findings_{findings} {
    for (const Function& function : model.functions)
      functions_.emplace(key_of(function), &function);
  }

  void graph(const Graph& graph, const Scope* outer) {
    Scope scope{outer, {}};
    for (const ValueInfo& input : graph.inputs) write(scope, input.name, "the inputs");
    Names constants;
    for (const Initializer& constant : graph.initializers) {
      if (constant.name.empty()) findings_.add("the initializers", "one has no name");
      if (!constants.insert(constant.name).second)
        findings_.add("the initializers", "two are called " + in_quotes(constant.name));
    }
    scope.written.insert(constants.begin(), constants.end());
    nodes(graph.nodes, scope);
    Names results;
    for (const ValueInfo& output : graph.outputs) {
      read(scope, output.name, "the outputs", {});
      if (!results.insert(output.name).second)
        findings_.add("the outputs", "two are called " + in_quotes(output.name));
    }
  }

  void function(const Function& function) {
    Scope scope;
    caller_ = &function;
    defaults(function);
    attributes_.insert(function.attributes.begin(), function.attributes.end());
    for (const Attribute& attribute : function.defaults) attributes_.insert(attribute.name);
    for (const std::string& input : function.inputs) write(scope, input, "the inputs");
    nodes(function.nodes, scope);
    for (const std::string& output : function.outputs) read(scope, output, "the outputs", {});
    attributes_.clear();
    caller_ = nullptr;
  }

  [[nodiscard]] const CallGraph& calls() const noexcept { return calls_; }

 private:
  using Writers = std::unordered_map<std::string_view, const Node*>;

  void write(Scope& scope, std::string_view name, const std::string& place) {
    if (name.empty())
      findings_.add(place, "one has no name");
    else if (!scope.written.insert(name).second)
      findings_.add(place, in_quotes(name) + " is written a second time");
  }

  void read(const Scope& scope, std::string_view name, const std::string& place,
            const Writers& writers) {
    if (scope.has(name)) return;
    const auto later = writers.find(name);
    if (later != writers.end()) {
      findings_.add(place, "reads " + in_quotes(name) + ", which " + later->second->place() +
                               " writes later: the nodes are not in order");
      return;
    }
    findings_.add(place,
                  "reads " + in_quotes(name) + ", which nothing writes" + nearest(scope, name));
  }

  /// Looked for among few and short names: a file may have a million long ones.
  [[nodiscard]] std::string nearest(const Scope& scope, std::string_view name) const {
    if (findings_.size() >= Findings::most_kept || name.size() > longest_compared) return {};
    std::vector<std::string_view> known;
    for (const Scope* in = &scope; in != nullptr; in = in->outer)
      for (const std::string_view each : in->written)
        if (known.size() < most_compared && each.size() <= longest_compared) known.push_back(each);
    return printable(did_you_mean(name, known));
  }

  void nodes(const std::vector<Node>& nodes, Scope& scope) {
    Writers writers;
    for (const Node& node : nodes)
      for (const std::string& output : node.outputs) writers.emplace(output, &node);
    for (const Node& node : nodes) {
      const std::size_t before = findings_.size();
      this->node(node, scope, writers);
      findings_.within(before, [&] { return node.place(); });
    }
  }

  void node(const Node& node, Scope& scope, const Writers& writers) {
    if (node.op.empty()) findings_.add("", "names no operator");
    const auto called = functions_.find(called_by(node));
    if (called != functions_.end())
      call(node, *called->second);
    else if (node.opset == 0)
      findings_.add("", "domain " + in_quotes(node.domain) + " is not imported");
    for (const std::string& input : node.inputs)
      if (!input.empty()) read(scope, input, "", writers);
    Names names;
    for (const Attribute& attribute : node.attributes) {
      const std::string& name = attribute.name;
      if (!names.insert(name).second)
        findings_.add("", "attribute " + in_quotes(name) + " occurs twice");
      if (!attribute.reference.empty() && !attributes_.contains(attribute.reference))
        findings_.add("", "attribute " + in_quotes(name) + " refers to " +
                              in_quotes(attribute.reference) + ", which no function around it has");
      inner(attribute, scope);
    }
    for (const std::string& output : node.outputs)
      if (!output.empty()) write(scope, output, "");
  }

  void call(const Node& node, const Function& function) {
    if (caller_ != nullptr) calls_.add(*caller_, function);
    if (node.inputs.size() > function.inputs.size() ||
        node.outputs.size() > function.outputs.size())
      findings_.add("", "the function takes " + std::to_string(function.inputs.size()) +
                            " inputs and gives " + std::to_string(function.outputs.size()) +
                            " outputs, the call has " + std::to_string(node.inputs.size()) +
                            " and " + std::to_string(node.outputs.size()));
  }

  /// They stand outside of the function's body: they read none of its values and attributes.
  void defaults(const Function& function) {
    Names names;
    for (const Attribute& attribute : function.defaults) {
      if (!names.insert(attribute.name).second)
        findings_.add("", "attribute " + in_quotes(attribute.name) + " has two defaults");
      if (!attribute.reference.empty())
        findings_.add("", "the default of attribute " + in_quotes(attribute.name) +
                              " refers to another attribute");
      inner(attribute, {});
    }
  }

  void inner(const Attribute& attribute, const Scope& scope) {
    const std::size_t before = findings_.size();
    if (const auto* const one = std::get_if<GraphPtr>(&attribute.value)) graph(**one, &scope);
    if (const auto* const many = std::get_if<std::vector<GraphPtr>>(&attribute.value))
      for (const GraphPtr& each : *many) graph(*each, &scope);
    findings_.within(before, [&] { return "attribute " + in_quotes(attribute.name); });
  }

  static constexpr std::size_t most_compared = 1024;
  static constexpr std::size_t longest_compared = 128;

  Findings& findings_;
  std::map<FunctionKey, const Function*> functions_;
  CallGraph calls_;
  // Of the function that is checked.
  Names attributes_;
  const Function* caller_ = nullptr;
};

}  // namespace

void check_graphs(const ModelFile& model, Findings& findings) {
  Check check{model, findings};
  check.graph(model.graph, nullptr);
  std::set<FunctionKey> keys;
  for (const Function& function : model.functions) {
    const std::size_t before = findings.size();
    if (!keys.insert(key_of(function)).second) findings.add("", "is defined twice");
    check.function(function);
    findings.within(before, [&] { return "function " + in_quotes(function.name); });
  }
  for (const Function* const function : check.calls().recursive(model.functions))
    findings.add("function " + in_quotes(function->name),
                 "calls itself, or functions that call it");
}

}  // namespace stoker::onnx
