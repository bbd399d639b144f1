// Loops that a condition ends.
#include <algorithm>

#include "stoker/pipeline/tensor/control/control.hpp"
#include "stoker/pipeline/tensor/control/steps.hpp"
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/gradient.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr {
namespace {

const std::vector<Function>& functions_of(const Payload* payload) {
  return static_cast<const FunctionPayload*>(payload)->functions();
}

/// Through the same loop as a scan of as many rounds as it may take, in which the states stay when the
/// condition has ended it.
Values of_while(const Backward& b) {
  const std::int64_t most = b.attributes.integer("most");
  if (most == 0)
    throw Error{"while_loop", ErrorCode::unsupported,
                "a loop without a known length has no gradient: give max_iterations, or use "
                "for_loop or scan"};
  const std::uint64_t begin = Node::next_serial();
  const Function& condition = functions_of(b.payload)[0];
  const Function& body = functions_of(b.payload)[1];
  const auto states = static_cast<std::size_t>(b.attributes.integer("states"));
  const std::vector<Value> first(b.inputs.begin(),
                                 b.inputs.begin() + static_cast<std::ptrdiff_t>(states));
  const std::vector<Value> captures(b.inputs.begin() + static_cast<std::ptrdiff_t>(states),
                                    b.inputs.end());
  std::vector<Value> sources;
  for (const Value& input : b.inputs) sources.push_back(variable(input));

  Function round;
  round.parameters.push_back(parameter({DType::s32, Shape{}}));
  std::vector<Value> arguments = placeholders_like(first);
  round.parameters.insert(round.parameters.end(), arguments.begin(), arguments.end());
  arguments.insert(arguments.end(), sources.begin() + static_cast<std::ptrdiff_t>(states),
                   sources.end());
  const Value goes_on = call(condition, arguments)[0];
  const std::vector<Value> next = call(body, arguments);
  for (std::size_t k = 0; k < states; ++k)
    round.results.push_back(select(goes_on, next[k], arguments[k]));
  const std::vector<Value> made =
      scan(std::span{sources}.first(states), {}, round, most, false, begin);

  std::vector<Value> outputs;
  std::vector<Value> seeds;
  for (std::size_t k = 0; k < states; ++k)
    if (b.gradients[k]) {
      outputs.push_back(made[k]);
      seeds.push_back(b.gradients[k]);
    }
  const std::vector<Value> found = gradients(outputs, seeds, sources);
  Values by_input(b.inputs.size());
  for (std::size_t i = 0; i < by_input.size(); ++i)
    if (is_inexact(b.inputs[i].dtype())) by_input[i] = found[i];
  return by_input;
}

/// As long as one element goes on; the states of the others stay.
Values batch_while(const Batch& b) {
  const auto states = static_cast<std::size_t>(b.attributes.integer("states"));
  std::vector<std::uint8_t> mapped(b.mapped.begin(), b.mapped.end());
  std::fill_n(mapped.begin(), states, std::uint8_t{1});
  Values inputs;
  for (std::size_t i = 0; i < b.inputs.size(); ++i)
    inputs.push_back(i < states ? spread(b, i) : b.x(i));
  const auto& functions = functions_of(b.payload.get());

  Function condition;
  condition.parameters = placeholders_like(inputs);
  const Value each = batched(functions[0], condition.parameters, mapped, b.size)[0];
  condition.results.push_back(apply_one(
      find_op("any"), {each}, {{"axes", std::vector<std::int64_t>{0}}, {"keepdims", false}}));
  Function body;
  body.parameters = placeholders_like(inputs);
  const Value goes_on = batched(functions[0], body.parameters, mapped, b.size)[0];
  body.results = batched(functions[1], body.parameters, mapped, b.size);
  for (std::size_t k = 0; k < states; ++k)
    body.results[k] =
        select(behind_leading(goes_on, body.results[k]), body.results[k], body.parameters[k]);
  return apply(b.op, std::move(inputs), b.attributes,
               std::make_shared<FunctionPayload>(std::vector{condition, body}));
}

}  // namespace

std::vector<Value> while_loop(std::span<const Value> states, const Function& condition,
                              const Function& body, std::int64_t most, std::uint64_t begin) {
  static constinit NamedOp op{"while_loop"};
  std::vector<Value> captures;
  const std::array open{condition, body};
  std::vector<Function> closed = close(open, captures, begin);
  Values inputs(states.begin(), states.end());
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  const Values made = apply(op, std::move(inputs),
                            {{"states", static_cast<std::int64_t>(states.size())}, {"most", most}},
                            std::make_shared<FunctionPayload>(std::move(closed)));
  return {made.begin(), made.end()};
}

namespace ops::while_loop {

void define(OpTable& table) {
  Op op;
  op.name = "while_loop";
  op.kind = OpKind::host;
  op.inputs = {1, any_number};
  op.summary = "a function called again and again while a condition holds";
  op.infer = [](const OpCall& call) -> Result<Specs> {
    const auto states = static_cast<std::size_t>(call.attributes.integer("states"));
    return Specs(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(states));
  };
  op.host = [](const OpCall& call, const std::shared_ptr<DeviceClient>& device) {
    const auto& functions = functions_of(call.payload);
    return while_step(functions[0], functions[1],
                      static_cast<std::size_t>(call.attributes.integer("states")),
                      call.attributes.integer("most"), device);
  };
  op.gradient = &of_while;
  op.batch = &batch_while;
  table.add(std::move(op));
}

}  // namespace ops::while_loop
}  // namespace stoker::expr
