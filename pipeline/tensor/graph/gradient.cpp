#include "stoker/pipeline/tensor/graph/gradient.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/graph/walk.hpp"

namespace stoker::expr {
namespace {

/// The nodes between the inputs and the outputs, each before those that use it.
class Between {
 public:
  Between(std::span<const Value> outputs, std::span<const Value> inputs) {
    for (const Value& input : inputs) needed_.insert(input.node().get());
    const auto stop = [](const Node&) { return false; };
    walk(outputs, stop, [&](const std::shared_ptr<Node>& node, const Values& from) {
      const bool depends = std::ranges::any_of(
          from, [&](const Value& input) { return needed_.contains(input.node().get()); });
      if (!depends) return;
      needed_.insert(node.get());
      order_.push_back(node);
    });
  }
  /// Whether it is one of the inputs or depends on one.
  [[nodiscard]] bool depends(const Node* node) const { return needed_.contains(node); }
  [[nodiscard]] const std::vector<std::shared_ptr<Node>>& order() const noexcept { return order_; }

 private:
  std::unordered_set<const Node*> needed_;
  std::vector<std::shared_ptr<Node>> order_;
};

Values backward(const Node& node, const Values& inputs, const Values& outputs,
                const Values& gradients) {
  const Op& op = node.op();
  if (op.gradient)
    return op.gradient({inputs, outputs, gradients, node.attributes(), node.payload().get()});
  if (op.zero_gradient) return Values(inputs.size());
  throw Error{op.name, ErrorCode::unsupported, "there is no gradient of this operation"};
}

}  // namespace

Value variable(const Value& x) {
  static constinit NamedOp op{"variable"};
  return apply_one(op, {x});
}

std::vector<Value> gradients(std::span<const Value> outputs, std::span<const Value> seeds,
                             std::span<const Value> inputs) {
  const Between between{outputs, inputs};
  std::unordered_map<const Node*, Values> sums;
  const auto add = [&](const Value& value, const Value& gradient) {
    Values& known = sums[value.node().get()];
    known.resize(value.node()->specs().size());
    Value& one = known[value.output()];
    one = one ? one + gradient : gradient;
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) add(outputs[i], seeds[i]);
  std::vector<Value> found(inputs.size());
  const auto& order = between.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::shared_ptr<Node>& node = order[i];
    const auto sum = sums.find(node.get());
    if (sum == sums.end()) continue;
    const Values incoming = sum->second;
    const Values from = node->inputs();
    Values made;
    for (std::uint32_t output = 0; output < node->specs().size(); ++output)
      made.emplace_back(node, output);
    const Values outgoing = backward(*node, from, made, incoming);
    for (std::size_t k = 0; k < from.size(); ++k)
      if (outgoing[k] && between.depends(from[k].node().get())) add(from[k], outgoing[k]);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto sum = sums.find(inputs[i].node().get());
    if (sum != sums.end()) found[i] = sum->second[inputs[i].output()];
    if (!found[i]) found[i] = zeros_like(inputs[i]);
  }
  return found;
}

}  // namespace stoker::expr
