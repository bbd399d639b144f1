#include "stoker/pipeline/onnx/reading/function_inlining.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "stoker/pipeline/onnx/reading/copied_bytes.hpp"
#include "stoker/pipeline/onnx/reading/function_key.hpp"

namespace stoker::onnx {
namespace {

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
  const Node* node;
  /// Attributes of the call, and defaults of the function.
  std::unordered_map<std::string_view, const AttributeValue*> given;
};

constexpr std::string_view root_name = "inlined";

/// One more than the underscores that follow `root_name` at the beginning of a name; the most of several names. 0 if
/// none begins so.
std::size_t most_underscores(const std::vector<Node>& nodes);
std::size_t underscores(std::string_view name) {
  if (!name.starts_with(root_name)) return 0;
  name.remove_prefix(root_name.size());
  return 1 + std::min(name.find_first_not_of('_'), name.size());
}
std::size_t most_underscores(const Graph& graph) {
  std::size_t most = most_underscores(graph.nodes);
  for (const ValueInfo& input : graph.inputs) most = std::max(most, underscores(input.name));
  for (const Initializer& constant : graph.initializers)
    most = std::max(most, underscores(constant.name));
  return most;
}
std::size_t most_underscores(const std::vector<Node>& nodes) {
  std::size_t most = 0;
  for (const Node& node : nodes) {
    for (const std::string& output : node.outputs) most = std::max(most, underscores(output));
    for (const Attribute& attribute : node.attributes) {
      if (const auto* const one = std::get_if<GraphPtr>(&attribute.value))
        most = std::max(most, most_underscores(**one));
      if (const auto* const many = std::get_if<std::vector<GraphPtr>>(&attribute.value))
        for (const GraphPtr& graph : *many) most = std::max(most, most_underscores(*graph));
    }
  }
  return most;
}

class Inlining {
 public:
  Inlining(const ModelFile& model, const ReadLimits& limits) : model_{model}, limits_{limits} {
    for (const Function& function : model.functions)
      functions_.emplace(key_of(function), &function);
    // Values of functions are renamed anyway; only names that stay can be in the way.
    root_.append(most_underscores(model.graph), '_');
  }

  Result<Graph> run() { return graph(model_.graph, nullptr, "", nullptr); }

 private:
  [[nodiscard]] static Error refused(const Node& call, std::string why) {
    return Error{"onnx", ErrorCode::invalid_argument, call.place() + ": " + std::move(why)};
  }

  /// Counts what a call copies. What stands in no function is copied once, and is free.
  [[nodiscard]] Result<void> copies(std::uint64_t bytes) {
    if (active_ == 0) return {};
    copied_ += bytes;
    if (copied_ <= limits_.inlined_bytes) return {};
    return Error{
        "onnx",
        ErrorCode::limit_exceeded,
        "more than " + std::to_string(limits_.inlined_bytes) + " bytes when functions are inlined",
        {{"limit", "inlined_bytes"}}};
  }

  Result<Graph> graph(const Graph& old, const Renaming* outer, const std::string& prefix,
                      const Call* call) {
    STOKER_TRY(copies(copied_bytes(old)));
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
      STOKER_TRY(copies(copied_bytes(old) + (call == nullptr ? 0 : call->node->name.size())));
      Node node = old;
      node.attributes.clear();
      if (call != nullptr && !call->node->name.empty() && !old.name.empty())
        node.name = call->node->name + '/' + old.name;
      for (std::string& input : node.inputs) {
        input = names.of(input);
        STOKER_TRY(copies(input.size()));
      }
      for (const Attribute& attribute : old.attributes)
        STOKER_TRY(this->attribute(attribute, node.attributes, names, call));
      for (std::string& output : node.outputs) {
        output = names.define(output);
        STOKER_TRY(copies(output.size()));
      }
      const auto called = functions_.find(called_by(node));
      if (called == functions_.end())
        to.push_back(std::move(node));
      else
        STOKER_TRY(body(*called->second, node, to));
    }
    return {};
  }

  Result<void> attribute(const Attribute& old, std::vector<Attribute>& to, const Renaming& names,
                         const Call* call) {
    if (!old.reference.empty()) {
      const auto found = call->given.find(old.reference);
      if (found == call->given.end()) return {};  // neither given nor with a default
      STOKER_TRY(copies(copied_bytes(*found->second)));
      to.push_back({old.name, *found->second, {}});
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

  /// The nodes of a call, whose inputs, outputs and attributes are those of its graph's copy already.
  Result<void> body(const Function& function, const Node& node, std::vector<Node>& to) {
    if (active_ >= limits_.nesting)
      return Error{"onnx",
                   ErrorCode::limit_exceeded,
                   "calls of functions nest deeper than " + std::to_string(limits_.nesting),
                   {{"limit", "nesting"}}};
    ++active_;
    STOKER_TRY(copies(copied_bytes(function) + copied_bytes(node)));
    Renaming names{nullptr, root_ + std::to_string(++calls_) + ':', {}, {}};
    Call call{&node, {}};
    std::vector<Attribute> defaults;
    for (const Attribute& attribute : node.attributes)
      call.given.emplace(attribute.name, &attribute.value);
    for (const Attribute& attribute : function.defaults)
      STOKER_TRY(this->attribute(attribute, defaults, names, nullptr));
    for (const Attribute& attribute : defaults)
      call.given.emplace(attribute.name, &attribute.value);
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names.names[function.inputs[i]] = node.has_input(i) ? node.inputs[i] : std::string{};
    const std::unordered_set<std::string_view> read{node.inputs.begin(), node.inputs.end()};
    // Outputs that are an input, or the same as another output; or whose name hides one that the body still reads.
    std::vector<std::size_t> late;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string& result = function.outputs[i];
      if (node.outputs[i].empty()) continue;
      if (names.names.contains(result) || read.contains(node.outputs[i]) ||
          !names.results.emplace(result, node.outputs[i]).second)
        late.push_back(i);
    }
    STOKER_TRY(nodes(function.nodes, to, names, &call));
    for (const std::size_t i : late) {
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
    --active_;
    return {};
  }

  const ModelFile& model_;
  const ReadLimits& limits_;
  std::map<FunctionKey, const Function*> functions_;
  std::string root_{root_name};
  std::size_t active_ = 0;  // calls around what is copied
  std::uint64_t copied_ = 0;
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
