#include "stoker/pipeline/onnx/reading/graph_check.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

/// What calls a function: a domain, a name, an overload.
std::string full_name(const std::string& domain, const std::string& name,
                      const std::string& overload) {
  return domain + '\0' + name + '\0' + overload;
}
std::string full_name(const Function& function) {
  return full_name(function.domain, function.name, function.overload);
}

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
    for (const Function& function : model.functions) functions_.insert(full_name(function));
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
    attributes_.clear();
    for (const std::string& name : function.attributes) attributes_.insert(name);
    for (const Attribute& attribute : function.defaults) attributes_.insert(attribute.name);
    for (const std::string& input : function.inputs) write(scope, input, "the inputs");
    nodes(function.nodes, scope);
    for (const std::string& output : function.outputs) read(scope, output, "the outputs", {});
    attributes_.clear();
  }

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
    if (node.opset == 0 && !functions_.contains(full_name(node.domain, node.op, node.overload)))
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
  std::unordered_set<std::string> functions_;  // by full name
  Names attributes_;                           // of the function that is checked
};

}  // namespace

void check_graphs(const ModelFile& model, Findings& findings) {
  Check check{model, findings};
  check.graph(model.graph, nullptr);
  std::unordered_set<std::string> names;
  for (const Function& function : model.functions) {
    const std::size_t before = findings.size();
    if (!names.insert(full_name(function)).second) findings.add("", "is defined twice");
    check.function(function);
    findings.within(before, [&] { return "function " + in_quotes(function.name); });
  }
}

}  // namespace stoker::onnx
