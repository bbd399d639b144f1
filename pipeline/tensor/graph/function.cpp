#include "stoker/pipeline/tensor/graph/function.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/graph/walk.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::expr {
namespace {

/// What is inside of a function, and what is not but is used there.
class Inside {
 public:
  Inside(const Function& function, std::uint64_t begin, Free free)
      : begin_{begin}, keeps_free_{free == Free::inside} {
    for (const Value& parameter : function.parameters) inside_.insert(parameter.node().get());
    const auto is_older = [&](const Node& node) { return node.serial() <= begin; };
    walk(function.results, is_older,
         [&](const std::shared_ptr<Node>& node, const Values& inputs) { place(*node, inputs); });
    for (const Value& result : function.results) use(result);
  }
  [[nodiscard]] const std::vector<Value>& captures() const noexcept { return captures_; }

 private:
  void place(const Node& node, const Values& inputs) {
    const OpKind kind = node.op().kind;
    if (kind == OpKind::parameter) return;
    if (!node.buffers().empty()) return;  // known
    const auto all_free = [&] {
      return std::ranges::all_of(
          inputs, [&](const Value& input) { return constant_.contains(input.node().get()); });
    };
    const bool is_leaf = kind == OpKind::constant || kind == OpKind::index;
    const bool is_cheap = kind == OpKind::scalar || kind == OpKind::view || kind == OpKind::reshape;
    if (is_leaf || (is_cheap && !inputs.empty() && all_free())) {
      constant_.insert(&node);
      return;
    }
    const bool depends = std::ranges::any_of(
        inputs, [&](const Value& input) { return inside_.contains(input.node().get()); });
    if (!depends && (!keeps_free_ || node.serial() <= begin_)) return;
    inside_.insert(&node);
    for (const Value& input : inputs) use(input);
  }
  void use(const Value& value) {
    const Node* node = value.node().get();
    if (inside_.contains(node) || constant_.contains(node)) return;
    if (std::ranges::find(captures_, value) == captures_.end()) captures_.push_back(value);
  }

  const std::uint64_t begin_;
  const bool keeps_free_;
  std::unordered_set<const Node*> inside_;
  std::unordered_set<const Node*> constant_;  // and what is made of them alone
  std::vector<Value> captures_;
};

struct ValueHash {
  std::size_t operator()(const Value& value) const noexcept {
    return std::hash<const Node*>{}(value.node().get()) * 31 + value.output();
  }
};
using Substitution = std::unordered_map<Value, Value, ValueHash>;

/// The values with others in the place of some: what depends on those is asked for anew.
std::vector<Value> substitute(std::span<const Value> results, Substitution known) {
  std::unordered_set<const Node*> touched;
  for (const auto& [from, to] : known) touched.insert(from.node().get());
  const auto now = [&](const Value& value) {
    const auto other = known.find(value);
    return other == known.end() ? value : other->second;
  };
  const auto is_replaced = [&](const Node& node) { return touched.contains(&node); };
  walk(results, is_replaced, [&](const std::shared_ptr<Node>& node, const Values& inputs) {
    if (touched.contains(node.get())) return;
    const bool depends = std::ranges::any_of(
        inputs, [&](const Value& input) { return touched.contains(input.node().get()); });
    if (!depends) return;
    Values replaced;
    for (const Value& input : inputs) replaced.push_back(now(input));
    const Values made = apply(node->op(), std::move(replaced), node->attributes(), node->payload());
    touched.insert(node.get());
    for (std::uint32_t output = 0; output < made.size(); ++output)
      known.emplace(Value{node, output}, made[output]);
  });
  std::vector<Value> made;
  for (const Value& result : results) made.push_back(now(result));
  return made;
}

std::string key_of(const std::vector<Function>& functions) {
  std::string key = std::to_string(functions.size()) + ':';
  for (const Function& function : functions) {
    const Extracted extracted = extract(function.results);
    const std::string program = extracted.key();
    key += std::to_string(program.size()) + ':' + program;
    for (const Value& leaf : extracted.leaves())
      key += std::to_string(std::ranges::find(function.parameters, leaf) -
                            function.parameters.begin()) +
             ',';
  }
  return key;
}

}  // namespace

std::vector<Value> placeholders_like(std::span<const Value> like) {
  std::vector<Value> made;
  for (const Value& value : like) made.push_back(parameter(value.spec()));
  return made;
}

std::vector<Function> close(std::span<const Function> open, std::vector<Value>& captures,
                            std::uint64_t begin, Free free) {
  for (const Function& function : open) {
    const Inside inside{function, begin, free};
    for (const Value& capture : inside.captures())
      if (std::ranges::find(captures, capture) == captures.end()) captures.push_back(capture);
  }
  std::vector<Function> closed;
  for (const Function& function : open) {
    Function made{function.parameters, {}};
    Substitution inner;
    for (const Value& capture : captures) {
      made.parameters.push_back(parameter(capture.spec()));
      inner.emplace(capture, made.parameters.back());
    }
    made.results = substitute(function.results, std::move(inner));
    closed.push_back(std::move(made));
  }
  return closed;
}

std::vector<Value> call(const Function& function, std::span<const Value> arguments) {
  Substitution outer;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    outer.emplace(function.parameters[i], arguments[i]);
  return substitute(function.results, std::move(outer));
}

FunctionPayload::FunctionPayload(std::vector<Function> functions)
    : functions_{std::move(functions)}, key_{key_of(functions_)} {}

}  // namespace stoker::expr
