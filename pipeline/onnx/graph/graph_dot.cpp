#include "stoker/pipeline/onnx/graph/graph_dot.hpp"

#include <unordered_map>

#include "stoker/pipeline/onnx/graph/shown.hpp"

namespace stoker::onnx {
namespace {

/// In double quotes, where a backslash and a quote mean something.
std::string quoted(const std::string& text) {
  std::string all{"\""};
  for (const char one : text) {
    if (one == '\n') {
      all += "\\n";
      continue;
    }
    if (one == '"' || one == '\\') all += '\\';
    all += one;
  }
  return all + '"';
}

class Drawing {
 public:
  std::string of(const Graph& graph) {
    text_ = "digraph model {\n  node [shape=box];\n";
    draw(graph, nullptr, "  ");
    return text_ + edges_ + "}\n";
  }

 private:
  /// Who writes each name: the mark of a drawn one; empty: a constant.
  struct Scope {
    std::unordered_map<std::string_view, std::string> writers = {};
    const Scope* outer = nullptr;
  };

  void draw(const Graph& graph, const Scope* outer, const std::string& indent) {
    Scope scope{.outer = outer};
    for (const Initializer& constant : graph.initializers) scope.writers[constant.name] = "";
    for (const ValueInfo& input : graph.inputs) {
      if (scope.writers.contains(input.name)) continue;  // it has a default
      scope.writers[input.name] = oval(input, indent);
    }
    for (const Node& node : graph.nodes) draw(node, scope, indent);
    for (const ValueInfo& output : graph.outputs) edge(output.name, oval(output, indent), scope);
  }

  void draw(const Node& node, Scope& scope, const std::string& indent) {
    const std::string mark = next_mark();
    const std::string label =
        shown(node.operator_name()) + (node.name.empty() ? "" : '\n' + shown(node.name));
    text_ += indent + mark + " [label=" + quoted(label) + "];\n";
    for (const std::string& input : node.inputs) edge(input, mark, scope);
    for (const Attribute& attribute : node.attributes) {
      if (const auto* one = std::get_if<GraphPtr>(&attribute.value))
        draw_within(**one, attribute.name, mark, scope, indent);
      if (const auto* all = std::get_if<std::vector<GraphPtr>>(&attribute.value))
        for (const GraphPtr& one : *all) draw_within(*one, attribute.name, mark, scope, indent);
    }
    for (const std::string& output : node.outputs)
      if (!output.empty()) scope.writers[output] = mark;
  }

  void draw_within(const Graph& graph, const std::string& attribute, const std::string& mark,
                   const Scope& scope, const std::string& indent) {
    text_ += indent + "subgraph cluster_" + std::to_string(marks_++) + " {\n";
    text_ += indent + "  label=" + quoted(shown(attribute) + " of " + mark) + ";\n";
    draw(graph, &scope, indent + "  ");
    text_ += indent + "}\n";
  }

  std::string oval(const ValueInfo& value, const std::string& indent) {
    std::string mark = next_mark();
    text_ += indent + mark +
             " [shape=oval, label=" + quoted(shown(value.name) + '\n' + value.type.to_string()) +
             "];\n";
    return mark;
  }

  void edge(const std::string& name, const std::string& to, const Scope& from) {
    for (const Scope* scope = &from; scope != nullptr; scope = scope->outer) {
      const auto found = scope->writers.find(name);
      if (found == scope->writers.end()) continue;
      if (!found->second.empty())
        edges_ += "  " + found->second + " -> " + to + " [label=" + quoted(shown(name)) + "];\n";
      return;
    }
  }

  std::string next_mark() { return 'n' + std::to_string(marks_++); }

  std::string text_;
  std::string edges_;  // behind the clusters: one within a cluster would draw both its ends there
  std::size_t marks_ = 0;
};

}  // namespace

std::string graph_dot(const Graph& graph) { return Drawing{}.of(graph); }

}  // namespace stoker::onnx
