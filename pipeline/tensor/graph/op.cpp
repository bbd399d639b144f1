#include "stoker/pipeline/tensor/graph/op.hpp"

#include <algorithm>

#include "stoker/pipeline/tensor/complex/complex.hpp"
#include "stoker/pipeline/tensor/graph/node_quota.hpp"
#include "stoker/pipeline/tensor/graph/op_list.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::expr {

void OpTable::add(Op op) {
  std::string name = op.name;
  if (!ops_.try_emplace(std::move(name), std::move(op)).second)
    throw Error{"op_table", ErrorCode::internal, "an operation is defined twice"};
}

const Op* OpTable::find(std::string_view name) const noexcept {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

std::vector<const Op*> OpTable::list() const {
  std::vector<const Op*> all;
  for (const auto& [name, op] : ops_) all.push_back(&op);
  return all;
}

const OpTable& op_table() {
  static constinit NeverDestroyed<OpTable> table;
  return table.get([] {
    OpTable made;
    ops::define_all(made);
    return made;
  });
}

const Op& find_op(std::string_view name) {
  if (const Op* op = op_table().find(name)) return *op;
  throw Error{
      "op_table", ErrorCode::internal, "there is no such operation", {{"name", std::string{name}}}};
}

Values apply(const Op& op, Values inputs, Attributes attributes,
             std::shared_ptr<const Payload> payload) {
  if (inputs.size() < op.inputs.min || inputs.size() > op.inputs.max)
    throw Error{op.name,
                ErrorCode::arity_mismatch,
                "wrong number of inputs",
                {{"got", std::to_string(inputs.size())}}};
  if (takes_parts(op, inputs, attributes)) return apply_to_parts(op, inputs, attributes);
  boost::container::small_vector<TensorSpec, 4> specs;
  for (const Value& input : inputs) specs.push_back(input.spec());
  Specs outputs = op.infer({specs, attributes, payload.get()}).value();
  const bool tracked = op.tracks || std::ranges::any_of(inputs, [](const Value& input) {
                         return input.node()->tracked();
                       });
  NodeQuota::take();
  const auto count = static_cast<std::uint32_t>(outputs.size());
  const auto node = std::make_shared<Node>(op, std::move(attributes), std::move(inputs),
                                           std::move(outputs), tracked, std::move(payload));
  Values made;
  for (std::uint32_t i = 0; i < count; ++i) made.emplace_back(node, i);
  return made;
}

Value apply_one(const Op& op, Values inputs, Attributes attributes) {
  return apply(op, std::move(inputs), std::move(attributes))[0];
}

}  // namespace stoker::expr
