#include "stoker/pipeline/kernel_graph/kernel_graph.hpp"

#include <algorithm>
#include <queue>

namespace stoker {
namespace {

using StageIndex = std::uint32_t;

/// For each stage, those that come after it, as often as there are reasons; and how many reasons each
/// has to wait.
struct Precedence {
  std::vector<std::vector<StageIndex>> before;
  std::vector<std::uint32_t> missing;

  explicit Precedence(std::size_t stages) : before(stages), missing(stages) {}
  void add(StageIndex first, StageIndex second) {
    if (first == second) return;
    before[first].push_back(second);
    ++missing[second];
  }
};

Result<Precedence> precedence_of(const KernelGraph& graph) {
  const auto& stages = graph.stages();
  const auto& values = graph.values();
  std::vector<std::vector<StageIndex>> writers(values.size());
  std::vector<std::vector<StageIndex>> readers(values.size());
  for (StageIndex i = 0; i < stages.size(); ++i) {
    for (const ValueId value : stages[i].inputs) readers[values[value].memory].push_back(i);
    for (const ValueId value : stages[i].outputs) writers[value].push_back(i);
  }
  Precedence precedence{stages.size()};
  for (ValueId id = 0; id < values.size(); ++id) {
    const GraphValue& value = values[id];
    if (value.external) continue;
    if (writers[id].size() > 1)
      return Error{"pipeline",
                   ErrorCode::invalid_argument,
                   "two stages write the same value",
                   {{"value", value.name}, {"stage", std::to_string(writers[id][1])}}};
    if (writers[id].empty() && !readers[id].empty())
      return Error{"pipeline",
                   ErrorCode::not_found,
                   "a stage reads a value that no stage writes and no buffer is bound to",
                   {{"value", value.name}, {"stage", std::to_string(readers[id][0])}}};
    for (const StageIndex reader : readers[id]) {
      if (reader == writers[id][0])
        return Error{
            "pipeline", ErrorCode::cycle, "a stage reads what it writes", {{"value", value.name}}};
      precedence.add(writers[id][0], reader);
    }
  }
  // What an alias waits for, as if it were read; of external memory what was written before.
  for (StageIndex i = 0; i < stages.size(); ++i)
    for (const ValueId input : stages[i].inputs)
      for (const ValueId earlier : values[input].after)
        for (const StageIndex writer : writers[earlier])
          if (!values[earlier].external || writer < i) precedence.add(writer, i);
  // External memory changes in the order in which the stages were added.
  struct LastUse {
    std::optional<StageIndex> writer;
    std::vector<StageIndex> readers;
  };
  std::vector<LastUse> last(values.size());
  for (StageIndex i = 0; i < stages.size(); ++i) {
    for (const ValueId input : stages[i].inputs) {
      const ValueId id = values[input].memory;
      if (!values[id].external) continue;
      if (last[id].writer) precedence.add(*last[id].writer, i);
      last[id].readers.push_back(i);
    }
    for (const ValueId id : stages[i].outputs) {
      if (!values[id].external) continue;
      if (last[id].writer) precedence.add(*last[id].writer, i);
      for (const StageIndex reader : last[id].readers) precedence.add(reader, i);
      last[id] = {i, {}};
    }
  }
  return precedence;
}

Error cycle_error(const KernelGraph& graph, const std::vector<std::uint32_t>& missing) {
  std::string names;
  for (StageIndex i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0) continue;
    for (const ValueId value : graph.stages()[i].outputs)
      names += (names.empty() ? "" : ", ") + graph.values()[value].name;
  }
  return Error{
      "pipeline", ErrorCode::cycle, "these values depend on each other", {{"values", names}}};
}

}  // namespace

Result<ValueId> KernelGraph::external(std::string_view name, TensorSpec spec) {
  if (by_name_.contains(name))
    return Error{"pipeline",
                 ErrorCode::already_exists,
                 "a value of this name exists",
                 {{"value", std::string{name}}}};
  const ValueId id = value(name);
  values_[id].external = true;
  values_[id].spec = spec;
  return id;
}

ValueId KernelGraph::value(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({std::string{name}, std::nullopt, false, id});
  try {
    by_name_.emplace(std::string{name}, id);
  } catch (...) {
    values_.pop_back();
    throw;
  }
  return id;
}

void KernelGraph::back_to(const Mark& mark) noexcept {
  for (; values_.size() > mark.values; values_.pop_back()) by_name_.erase(values_.back().name);
  for (; stages_.size() > mark.stages; stages_.pop_back()) {
  }
}

ValueId KernelGraph::alias(std::string_view name, ValueId of, const Shape& shape,
                           std::span<const ValueId> after) {
  const ValueId id = value(name);
  values_[id].memory = values_[of].memory;
  values_[id].after = values_[of].after;
  for (const ValueId one : after) values_[id].after.push_back(values_[one].memory);
  values_[id].spec = TensorSpec{DType::f32, shape};  // the dtype is known when `of` is
  return id;
}

std::optional<ValueId> KernelGraph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

Result<TensorSpec> KernelGraph::checked_spec(ValueId id) {
  GraphValue& value = values_[id];
  const TensorSpec& stored = *values_[value.memory].spec;
  value.spec->dtype = stored.dtype;
  if (value.spec->elements() != stored.elements())
    return Error{"pipeline",
                 ErrorCode::shape_mismatch,
                 "an alias has another number of elements",
                 {{"value", value.name},
                  {"alias", value.spec->to_string()},
                  {"memory", stored.to_string()}}};
  return *value.spec;
}

Result<void> KernelGraph::add(std::shared_ptr<const Kernel> kernel, std::vector<ValueId> inputs,
                              std::vector<ValueId> outputs, const Params& params) {
  if (inputs.size() < kernel->inputs.min || inputs.size() > kernel->inputs.max)
    return Error{kernel->name,
                 ErrorCode::arity_mismatch,
                 "wrong number of inputs",
                 {{"expected", kernel->inputs.min == kernel->inputs.max
                                   ? std::to_string(kernel->inputs.min)
                                   : std::to_string(kernel->inputs.min) + ".." +
                                         std::to_string(kernel->inputs.max)},
                  {"got", std::to_string(inputs.size())},
                  {"stage", std::to_string(stages_.size())}}};
  auto resolved = ParamSet::resolve(kernel->name, kernel->params, params);
  if (!resolved) return resolved.error().with("stage", std::to_string(stages_.size()));
  stages_.push_back(
      {std::move(kernel), std::move(*resolved), std::move(inputs), std::move(outputs)});
  return {};
}

Result<std::vector<std::uint32_t>> check_graph(KernelGraph& graph) {
  STOKER_ASSIGN(Precedence precedence, precedence_of(graph));
  const auto& stages = graph.stages();
  std::vector<std::uint32_t>& missing = precedence.missing;
  // The smallest index first: without a reason to differ, stages keep the order of the caller.
  std::priority_queue<StageIndex, std::vector<StageIndex>, std::greater<>> ready;
  for (StageIndex i = 0; i < stages.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<StageIndex> order;
  order.reserve(stages.size());
  while (!ready.empty()) {
    const StageIndex stage = ready.top();
    ready.pop();
    order.push_back(stage);
    for (const StageIndex next : precedence.before[stage])
      if (--missing[next] == 0) ready.push(next);
  }
  if (order.size() != stages.size()) return cycle_error(graph, missing);

  for (const StageIndex index : order) {
    const GraphStage& stage = stages[index];
    const auto at_stage = [&](const Error& error) {
      return error.with("stage", std::to_string(index));
    };
    std::vector<TensorSpec> inputs;
    for (const ValueId input : stage.inputs) {
      const auto spec = graph.checked_spec(input);
      if (!spec) return at_stage(spec.error());
      inputs.push_back(*spec);
    }
    const auto inferred = stage.kernel->check(inputs, stage.params);
    if (!inferred) return at_stage(inferred.error());
    if (inferred->size() != stage.outputs.size())
      return at_stage(Error{stage.kernel->name,
                            ErrorCode::arity_mismatch,
                            "wrong number of outputs",
                            {{"expected", std::to_string(inferred->size())},
                             {"got", std::to_string(stage.outputs.size())}}});
    for (std::size_t i = 0; i < inferred->size(); ++i) {
      const GraphValue& target = graph.values()[stage.outputs[i]];
      const TensorSpec& made = (*inferred)[i];
      if (target.spec && *target.spec != made)
        return at_stage(Error{stage.kernel->name,
                              target.spec->dtype != made.dtype ? ErrorCode::dtype_mismatch
                                                               : ErrorCode::shape_mismatch,
                              "the output does not fit what the kernel makes",
                              {{"makes", made.to_string()},
                               {"output", target.spec->to_string()},
                               {"value", target.name}}});
      graph.set_spec(stage.outputs[i], made);
    }
  }
  return order;
}

}  // namespace stoker
