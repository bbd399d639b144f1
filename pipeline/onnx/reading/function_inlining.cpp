#include "stoker/pipeline/onnx/reading/function_inlining.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "stoker/pipeline/onnx/reading/findings.hpp"

namespace stoker::onnx {
namespace {

using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

/// What names of a graph become, and those of the graphs around it.
struct Renaming {
  const Renaming* outer = nullptr;
  std::string prefix;
  std::unordered_map<std::string, std::string> names;
  /// Results of a function, which are written under the caller's names at once.
  std::unordered_map<std::string, std::string> results;

  [[nodiscard]] std::string of(const std::string& name) const {
    for (const Renaming* in = this; in != nullptr; in = in->outer)
      if (const auto found = in->names.find(name); found != in->names.end()) return found->second;
    return name;
  }
  std::string define(const std::string& name) {
    if (name.empty()) return name;
    const auto wanted = results.find(name);
    return names[name] = wanted == results.end() ? prefix + name : wanted->second;
  }
};

/// What a function's body is read with.
struct Call {
  const Function* function;
  const Node* node;
};

/// Whether a name of the model begins with `root`.
bool is_used(std::string_view root, const std::vector<Node>& nodes);
bool is_used(std::string_view root, const Graph& graph) {
  const auto begins = [&](const auto& named) { return named.name.starts_with(root); };
  return std::ranges::any_of(graph.inputs, begins) ||
         std::ranges::any_of(graph.initializers, begins) || is_used(root, graph.nodes);
}
bool is_used(std::string_view root, const std::vector<Node>& nodes) {
  const auto within = [&](const Attribute& attribute) {
    if (const auto* const one = std::get_if<GraphPtr>(&attribute.value))
      return is_used(root, **one);
    const auto* const many = std::get_if<std::vector<GraphPtr>>(&attribute.value);
    return many != nullptr &&
           std::ranges::any_of(*many, [&](const GraphPtr& graph) { return is_used(root, *graph); });
  };
  return std::ranges::any_of(nodes, [&](const Node& node) {
    return std::ranges::any_of(node.outputs, [&](const auto& n) { return n.starts_with(root); }) ||
           std::ranges::any_of(node.attributes, within);
  });
}

class Inlining {
 public:
  Inlining(const ModelFile& model, const ReadLimits& limits) : model_{model}, limits_{limits} {
    for (const Function& function : model.functions)
      functions_.emplace(Key{function.domain, function.name, function.overload}, &function);
    // Values of functions are renamed anyway; only names that stay can be in the way.
    while (is_used(root_, model.graph)) root_ += '_';
  }

  Result<Graph> run() { return graph(model_.graph, nullptr, "", nullptr); }

 private:
  [[nodiscard]] static Error refused(const Node& call, std::string why) {
    return Error{"onnx", ErrorCode::invalid_argument, call.place() + ": " + std::move(why)};
  }

  Result<Graph> graph(const Graph& old, const Renaming* outer, const std::string& prefix,
                      const Call* call) {
    Renaming names{outer, prefix, {}, {}};
    Graph made{old.name, old.doc, {}, old.inputs, old.outputs, old.initializers, old.values};
    for (ValueInfo& input : made.inputs) input.name = names.define(input.name);
    for (Initializer& constant : made.initializers) constant.name = names.define(constant.name);
    STOKER_TRY(nodes(old.nodes, made.nodes, names, call));
    for (ValueInfo& output : made.outputs) output.name = names.of(output.name);
    for (ValueInfo& value : made.values) value.name = names.of(value.name);
    return made;
  }

  Result<void> nodes(const std::vector<Node>& from, std::vector<Node>& to, Renaming& names,
                     const Call* call) {
    for (const Node& old : from) {
      if (++count_ > limits_.nodes)
        return Error{
            "onnx",
            ErrorCode::limit_exceeded,
            "more than " + std::to_string(limits_.nodes) + " nodes when functions are inlined",
            {{"limit", "nodes"}}};
      Node node = old;
      node.attributes.clear();
      if (call != nullptr && !call->node->name.empty() && !old.name.empty())
        node.name = call->node->name + '/' + old.name;
      for (std::string& input : node.inputs) input = names.of(input);
      for (const Attribute& attribute : old.attributes)
        STOKER_TRY(this->attribute(attribute, node.attributes, names, call));
      for (std::string& output : node.outputs) output = names.define(output);
      const auto called = functions_.find(Key{node.domain, node.op, node.overload});
      if (called == functions_.end())
        to.push_back(std::move(node));
      else
        STOKER_TRY(body({called->second, &node}, to));
    }
    return {};
  }

  Result<void> attribute(const Attribute& old, std::vector<Attribute>& to, const Renaming& names,
                         const Call* call) {
    if (!old.reference.empty()) {
      if (const AttributeValue* const value = given(*call, old.reference))
        to.push_back({old.name, *value, {}});
      return {};
    }
    Attribute made = old;
    const auto copied = [&](GraphPtr& inner) -> Result<void> {
      STOKER_ASSIGN(Graph copy, graph(*inner, &names, names.prefix, call));
      inner = std::make_shared<const Graph>(std::move(copy));
      return {};
    };
    if (auto* const one = std::get_if<GraphPtr>(&made.value)) STOKER_TRY(copied(*one));
    if (auto* const many = std::get_if<std::vector<GraphPtr>>(&made.value))
      for (GraphPtr& each : *many) STOKER_TRY(copied(each));
    to.push_back(std::move(made));
    return {};
  }

  /// Null if the call does not give it and the function has no default.
  static const AttributeValue* given(const Call& call, std::string_view name) {
    if (const Attribute* const found = call.node->find(name)) return &found->value;
    const auto found = std::ranges::find(call.function->defaults, name, &Attribute::name);
    return found == call.function->defaults.end() ? nullptr : &found->value;
  }

  /// The nodes of a call, whose inputs, outputs and attributes are those of its graph's copy already.
  Result<void> body(const Call& call, std::vector<Node>& to) {
    const Function& function = *call.function;
    const Node& node = *call.node;
    if (std::ranges::find(active_, &function) != active_.end())
      return refused(node, "function " + in_quotes(function.name) + " calls itself");
    if (active_.size() >= limits_.nesting)
      return Error{"onnx",
                   ErrorCode::limit_exceeded,
                   "calls of functions nest deeper than " + std::to_string(limits_.nesting),
                   {{"limit", "nesting"}}};
    if (node.inputs.size() > function.inputs.size() ||
        node.outputs.size() > function.outputs.size())
      return refused(node, "the function takes " + std::to_string(function.inputs.size()) +
                               " inputs and gives " + std::to_string(function.outputs.size()) +
                               " outputs, the call has " + std::to_string(node.inputs.size()) +
                               " and " + std::to_string(node.outputs.size()));
    active_.push_back(&function);
    Renaming names{nullptr, root_ + std::to_string(++calls_) + ':', {}, {}};
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names.names[function.inputs[i]] = node.has_input(i) ? node.inputs[i] : std::string{};
    std::vector<std::size_t> copies;  // outputs that are an input, or the same as another output
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string& result = function.outputs[i];
      if (node.outputs[i].empty()) continue;
      if (names.names.contains(result) || !names.results.emplace(result, node.outputs[i]).second)
        copies.push_back(i);
    }
    STOKER_TRY(nodes(function.nodes, to, names, &call));
    for (const std::size_t i : copies) {
      const std::string source = names.of(function.outputs[i]);
      if (source.empty())
        return refused(node,
                       "output " + std::to_string(i) + " is an input that the call does not give");
      Node identity;
      identity.op = "Identity";
      identity.opset = std::max<std::int64_t>(model_.opset(""), 1);
      identity.inputs = {source};
      identity.outputs = {node.outputs[i]};
      to.push_back(std::move(identity));
    }
    active_.pop_back();
    return {};
  }

  const ModelFile& model_;
  const ReadLimits& limits_;
  std::map<Key, const Function*> functions_;
  std::string root_ = "inlined";
  std::vector<const Function*> active_;
  std::size_t count_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace

Result<void> inline_functions(ModelFile& model, const ReadLimits& limits) {
  if (model.functions.empty()) return {};
  STOKER_ASSIGN(Graph graph, Inlining(model, limits).run());
  model.graph = std::move(graph);
  model.functions.clear();
  return {};
}

}  // namespace stoker::onnx
