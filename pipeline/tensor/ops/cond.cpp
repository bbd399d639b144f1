// Branches: one of two functions, chosen when the condition is known.
#include "stoker/pipeline/tensor/control/control.hpp"
#include "stoker/pipeline/tensor/control/steps.hpp"
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/gradient.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr {
namespace {

const std::vector<Function>& branches(const Payload* payload) {
  return static_cast<const FunctionPayload*>(payload)->functions();
}

/// A branch again: the one that was taken pulls its gradients back, by the captures that are floats.
Values of_cond(const Backward& b) {
  const std::uint64_t begin = Node::next_serial();
  std::vector<std::size_t> wanted;
  for (std::size_t i = 1; i < b.inputs.size(); ++i)
    if (is_inexact(b.inputs[i].dtype())) wanted.push_back(i);
  Values gradients(b.inputs.size());
  if (wanted.empty()) return gradients;

  std::vector<Value> seeds;
  std::vector<std::size_t> seeded;
  for (std::size_t i = 0; i < b.outputs.size(); ++i)
    if (b.gradients[i]) {
      seeds.push_back(b.gradients[i]);
      seeded.push_back(i);
    }
  const std::vector<Value> captures(b.inputs.begin() + 1, b.inputs.end());
  const auto pulled = [&](const Function& branch) {
    // The captures and the seeds stay what they are outside: closing finds them again.
    std::vector<Value> inner;
    for (const Value& capture : captures) inner.push_back(variable(capture));
    const std::vector<Value> results = call(branch, inner);
    std::vector<Value> outputs;
    for (const std::size_t i : seeded) outputs.push_back(results[i]);
    std::vector<Value> by;
    for (const std::size_t i : wanted) by.push_back(inner[i - 1]);
    return Function{{}, expr::gradients(outputs, seeds, by)};
  };
  const std::vector<Value> made =
      cond(b.inputs[0], pulled(branches(b.payload)[0]), pulled(branches(b.payload)[1]), begin);
  for (std::size_t k = 0; k < wanted.size(); ++k) gradients[wanted[k]] = made[k];
  return gradients;
}

/// Where all take the same branch that one is computed for all; else both are, and each element chooses.
Values batch_cond(const Batch& b) {
  const Function& yes = branches(b.payload.get())[0];
  const Function& no = branches(b.payload.get())[1];
  const auto mapped = b.mapped.subspan(1);
  if (!b.is_mapped(0))
    return apply(b.op, Values(b.inputs.begin(), b.inputs.end()), b.attributes,
                 std::make_shared<FunctionPayload>(
                     std::vector{batched(yes, mapped, b.size), batched(no, mapped, b.size)}));
  const auto captures = b.inputs.subspan(1);
  const std::vector<Value> one = batched(yes, captures, mapped, b.size);
  const std::vector<Value> other = batched(no, captures, mapped, b.size);
  Values chosen;
  for (std::size_t k = 0; k < one.size(); ++k)
    chosen.push_back(select(behind_leading(b.x(0), one[k]), one[k], other[k]));
  return chosen;
}

}  // namespace

std::vector<Value> cond(const Value& condition, const Function& yes, const Function& no,
                        std::uint64_t begin) {
  static constinit NamedOp op{"cond"};
  std::vector<Value> captures;
  const std::array open{yes, no};
  std::vector<Function> closed = close(open, captures, begin, Free::inside);
  Values inputs{condition};
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  const Values made =
      apply(op, std::move(inputs), {}, std::make_shared<FunctionPayload>(std::move(closed)));
  return {made.begin(), made.end()};
}

namespace ops::cond {

void define(OpTable& table) {
  Op op;
  op.name = "cond";
  op.kind = OpKind::host;
  op.inputs = {1, any_number};
  op.summary = "the result of one of two functions, chosen by a condition";
  op.infer = [](const OpCall& call) -> Result<Specs> {
    Specs specs;
    for (const Value& result : branches(call.payload)[0].results) specs.push_back(result.spec());
    return specs;
  };
  op.host = [](const OpCall& call, const std::shared_ptr<DeviceClient>& device) {
    const auto& functions = branches(call.payload);
    return cond_step(functions[0], functions[1], device);
  };
  op.gradient = &of_cond;
  op.batch = &batch_cond;
  table.add(std::move(op));
}

}  // namespace ops::cond
}  // namespace stoker::expr
