// Backward rules of the program's own, and the order of what does not need each other.
#include "stoker/pipeline/tensor/graph/custom_gradient.hpp"

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/gradient.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr {
namespace {

/// What is computed does not depend on the rule, so programs that differ in it alone are equal.
class RulePayload final : public Payload {
 public:
  explicit RulePayload(BackwardRule made) : rule_{std::move(made)} {}
  [[nodiscard]] const BackwardRule& rule() const noexcept { return rule_; }
  [[nodiscard]] std::string key() const override { return {}; }

 private:
  const BackwardRule rule_;
};

const BackwardRule& rule_of(const Payload* payload) {
  return static_cast<const RulePayload*>(payload)->rule();
}

std::size_t count_of_inputs(const Attributes& attributes) {
  return static_cast<std::size_t>(attributes.integer("inputs"));
}

Values by_rule(const Backward& b) {
  std::vector<Value> seeds;
  for (std::size_t i = 0; i < b.outputs.size(); ++i)
    seeds.push_back(b.g(i) ? b.g(i) : zeros_like(b.y(i)));
  const std::size_t count = count_of_inputs(b.attributes);
  Values made = rule_of(b.payload)(b.inputs.first(count), b.outputs, seeds);
  made.resize(b.inputs.size());  // none by the outputs that it was told
  return made;
}

/// The rule for all elements: traced for one when a gradient is asked for. What is the same for all
/// gets the sum of their gradients.
BackwardRule rule_of_all(std::shared_ptr<const Payload> payload,
                         std::vector<std::uint8_t> is_mapped, std::int64_t size) {
  return [payload = std::move(payload), is_mapped = std::move(is_mapped), size](
             std::span<const Value> inputs, std::span<const Value> outputs,
             std::span<const Value> gradients) {
    const std::uint64_t begin = Node::next_serial();
    Function one;
    std::vector<Value> arguments;
    std::vector<std::uint8_t> mapped;
    const auto add = [&](const Value& value, bool differs) {
      const TensorSpec& spec = value.spec();
      one.parameters.push_back(
          parameter(differs ? TensorSpec{spec.dtype, spec.shape.without(0)} : spec));
      arguments.push_back(value);
      mapped.push_back(differs ? 1 : 0);
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) add(inputs[i], is_mapped[i] != 0);
    for (const Value& output : outputs) add(output, true);
    for (const Value& gradient : gradients) add(gradient, true);
    const std::span<const Value> given{one.parameters};
    const Values made = rule_of(payload.get())(given.first(inputs.size()),
                                               given.subspan(inputs.size(), outputs.size()),
                                               given.last(gradients.size()));
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i]) {
        places.push_back(i);
        one.results.push_back(made[i]);
      }
    const std::vector<Value> all = batched(one, arguments, mapped, size, begin);
    Values by_input(inputs.size());
    constexpr std::int64_t leading = 0;
    for (std::size_t k = 0; k < places.size(); ++k)
      by_input[places[k]] = is_mapped[places[k]] ? all[k] : sum(all[k], {&leading, 1}, false);
    return by_input;
  };
}

Values batch_rule(const Batch& b) {
  const std::size_t count = count_of_inputs(b.attributes);
  std::vector<std::uint8_t> is_mapped(b.mapped.begin(),
                                      b.mapped.begin() + static_cast<std::ptrdiff_t>(count));
  Values inputs(b.inputs.begin(), b.inputs.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = count; i < b.inputs.size(); ++i) inputs.push_back(spread(b, i));
  return apply(b.op, std::move(inputs), b.attributes,
               std::make_shared<RulePayload>(rule_of_all(b.payload, std::move(is_mapped), b.size)));
}

}  // namespace

std::vector<Value> custom_gradient(std::span<const Value> inputs, std::span<const Value> outputs,
                                   BackwardRule rule) {
  static constinit NamedOp op{"custom_gradient"};
  if (outputs.empty()) return {};
  Values all(inputs.begin(), inputs.end());
  all.insert(all.end(), outputs.begin(), outputs.end());
  const Values made =
      apply(op, std::move(all), {{"inputs", static_cast<std::int64_t>(inputs.size())}},
            std::make_shared<RulePayload>(std::move(rule)));
  return {made.begin(), made.end()};
}

std::vector<Value> checkpoint(const Function& function, std::span<const Value> arguments,
                              std::uint64_t begin) {
  std::vector<Value> captures;
  const Function closed = close({&function, 1}, captures, begin)[0];
  std::vector<Value> inputs(arguments.begin(), arguments.end());
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  const auto again = [closed](std::span<const Value> given, std::span<const Value>,
                              std::span<const Value> seeds) {
    std::vector<Value> sources;
    std::vector<Value> floats;
    for (const Value& input : given) {
      sources.push_back(variable(computed_after(input, seeds)));
      if (is_float(input.dtype())) floats.push_back(sources.back());
    }
    const std::vector<Value> found = gradients(call(closed, sources), seeds, floats);
    Values by_input;
    std::size_t next = 0;
    for (const Value& input : given)
      by_input.push_back(is_float(input.dtype()) ? found[next++] : Value{});
    return by_input;
  };
  return custom_gradient(inputs, call(closed, inputs), again);
}

Value computed_after(const Value& x, std::span<const Value> after) {
  static constinit NamedOp op{"computed_after"};
  Values inputs{x};
  for (const Value& one : after) {
    // Nobody may have read another such value yet: what it waits for is waited for here.
    if (&one.node()->op() == &op.get()) {
      const Values those = one.node()->inputs();
      inputs.insert(inputs.end(), those.begin(), those.end());
    } else {
      inputs.push_back(one);
    }
  }
  return apply_one(op, std::move(inputs));
}

namespace ops::custom_gradient {

void define(OpTable& table) {
  Op custom;
  custom.name = "custom_gradient";
  custom.kind = OpKind::reshape;
  custom.inputs = {1, any_number};
  custom.summary = "values whose gradient the program defines";
  custom.infer = [](const OpCall& call) -> Result<Specs> {
    const auto outputs = call.inputs.subspan(count_of_inputs(call.attributes));
    return Specs(outputs.begin(), outputs.end());
  };
  custom.gradient = &by_rule;
  custom.batch = &batch_rule;
  table.add(std::move(custom));

  Op after;
  after.name = "computed_after";
  after.kind = OpKind::computed_after;
  after.inputs = {1, any_number};
  after.summary =
      "the first input, computed after all other inputs, which are computed even if nothing else "
      "reads them";
  after.infer = [](const OpCall& call) -> Result<Specs> { return Specs{call.input()}; };
  after.gradient = [](const Backward& b) {
    Values gradients(b.inputs.size());
    gradients[0] = b.g();
    return gradients;
  };
  after.batch = [](const Batch& b) {
    Values inputs(b.inputs.begin(), b.inputs.end());
    inputs[0] = spread(b);
    return apply(b.op, std::move(inputs));
  };
  table.add(std::move(after));
}

}  // namespace ops::custom_gradient
}  // namespace stoker::expr
