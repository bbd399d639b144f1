#include "stoker/pipeline/script/run/evaluation_plan.hpp"

#include <unordered_map>
#include <unordered_set>

namespace stoker::script {

std::vector<LazyCall*> calls_beneath(std::span<const LazyPtr> values) {
  struct Visit {
    LazyCall* call;
    std::size_t next_input;
  };
  std::vector<LazyCall*> order;
  std::vector<Visit> path;
  std::unordered_set<const LazyCall*> known;
  const auto enter = [&](const LazyPtr& value) {
    if (!value->evaluated() && known.insert(value->call.get()).second)
      path.push_back({value->call.get(), 0});
  };
  for (const LazyPtr& value : values) {
    enter(value);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next_input < visit.call->inputs.size()) {
        enter(visit.call->inputs[visit.next_input++]);
      } else {
        order.push_back(visit.call);
        path.pop_back();
      }
    }
  }
  return order;
}

EvaluationPlan::EvaluationPlan(std::span<LazyCall* const> calls, std::span<LazyCall* const> later,
                               std::span<const LazyPtr> wanted) {
  std::unordered_set<const LazyValue*> needed;
  for (const LazyPtr& value : wanted) needed.insert(value.get());
  for (const LazyCall* call : later)
    for (const LazyPtr& input : call->inputs) needed.insert(input.get());

  std::unordered_map<const LazyValue*, ValueId> ids;
  const auto add_value = [&](LazyPtr lazy, const TensorSpec& spec, bool external, bool written) {
    const auto id = static_cast<ValueId>(values.size());
    if (lazy) ids.emplace(lazy.get(), id);
    values.push_back({std::move(lazy), spec, external, written});
    return id;
  };
  for (const LazyCall* call : calls) {
    Stage stage{call, {}, {}};
    for (const LazyPtr& input : call->inputs) {
      // What no earlier stage made has been evaluated before. Numbers that happen to be equal stay
      // apart: they make no other structure.
      const auto known = input->number ? ids.end() : ids.find(input.get());
      stage.inputs.push_back(known != ids.end() ? known->second
                                                : add_value(input, input->spec, true, false));
    }
    for (std::size_t i = 0; i < call->specs.size(); ++i) {
      LazyPtr lazy = call->outputs[i].lock();
      if (lazy && lazy->evaluated()) lazy.reset();  // another output of the call was needed earlier
      const bool external = lazy && (call->ran || needed.contains(lazy.get()));
      stage.outputs.push_back(add_value(std::move(lazy), call->specs[i], external, true));
    }
    stages.push_back(std::move(stage));
  }
  describe();
}

void EvaluationPlan::describe() {
  const auto add_ids = [&](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids)
      structure.append(std::to_string(id)).append(values[id].external ? "! " : " ");
  };
  for (const Value& value : values)
    if (value.external && !value.written) structure.append(value.spec.to_string()).append(" ");
  for (const Stage& stage : stages) {
    structure.append("\n").append(stage.call->kernel->name).append("(");
    add_ids(stage.inputs);
    // Texts carry their length, so that no value can be mistaken for two.
    for (const ParamValue& value : stage.call->resolved.values()) {
      const std::string text = to_string(value);
      structure.append(std::to_string(text.size())).append(":").append(text);
    }
    structure.append(")");
    add_ids(stage.outputs);
  }
}

Result<KernelGraph> EvaluationPlan::graph() const {
  KernelGraph graph;
  for (ValueId id = 0; id < values.size(); ++id) {
    const std::string name = "v" + std::to_string(id);
    if (values[id].external) {
      STOKER_TRY(graph.external(name, values[id].spec));
    } else {
      static_cast<void>(graph.value(name));
    }
  }
  for (const Stage& stage : stages)
    STOKER_TRY(graph.add(stage.call->kernel, stage.inputs, stage.outputs, stage.call->params));
  return graph;
}

}  // namespace stoker::script
