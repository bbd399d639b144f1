#include "stoker/pipeline/pipeline_actor.hpp"

#include <algorithm>
#include <utility>

namespace stoker {

std::optional<Result<void>> PipelineActor::run_at_once(const RunPipeline& run) {
  if (!std::exchange(asked_direct_, true)) direct_ = DirectRun::make(*plan_, device_->shell());
  if (!direct_) return std::nullopt;
  for (const std::shared_ptr<BufferState>& buffer : *run.binding)
    if (!buffer->memory) return std::nullopt;
  return device_->shell().run_at_once(*run.command, direct_->bind(*run.binding), *run.binding);
}

void PipelineActor::on(RunPipeline run) {
  const std::optional<Result<void>> ran = run_at_once(run);
  if (ran && *ran) return;
  auto chosen = [&]() -> Result<Chosen> {
    if (ran) return ran->error();
    try {
      return replay_for(run);
    } catch (const std::exception&) {
      return error_from_current_exception("pipeline");
    }
  }();
  std::optional<Error> refused;
  if (chosen) {
    run.command->work.replay = std::move(chosen->replay);
    run.command->work.replay->busy = true;
  } else {
    // Whoever reads what it would have written fails with it.
    run.command->work.replay = std::make_shared<Replay>();
    run.command->work.replay->uses = uses_of(*run.binding);
    refused = chosen.error();
  }
  device_->shell().submit(std::move(run.command), std::move(refused));
  if (chosen && chosen->passing_arena) device_->shell().release(chosen->passing_arena);
}

std::vector<BufferUse> PipelineActor::uses_of(const Binding& binding) const {
  std::vector<BufferUse> uses;
  for (std::size_t i = 0; i < binding.size(); ++i) {
    const ValueId value = plan_->externals[i];
    const bool reads = plan_->read_first[value] || !plan_->written[value];
    if (reads) uses.push_back({binding[i], false, false});
    if (plan_->written[value]) uses.push_back({binding[i], true, !plan_->read_first[value]});
  }
  return uses;
}

Result<PipelineActor::Chosen> PipelineActor::replay_for(const RunPipeline& run) {
  const auto is_idle = [](const Instance& instance) { return !instance.replay->busy; };
  auto chosen = std::ranges::find_if(instances_, [&](const Instance& instance) {
    return is_idle(instance) && instance.binding == run.binding;
  });
  if (chosen != instances_.end()) return Chosen{chosen->replay, nullptr};
  // Better to record anew in an idle arena than to hold one more of them.
  const bool full = instances_.size() >= max_idle;
  if (run.keep && full) chosen = std::ranges::find_if(instances_, is_idle);
  if (chosen != instances_.end()) {
    bind(*chosen, run.binding);
    return Chosen{chosen->replay, nullptr};
  }
  const bool keep = run.keep && !full;
  STOKER_ASSIGN(Instance fresh, make_instance(run.binding, keep));
  Chosen made{fresh.replay, keep ? nullptr : fresh.arena};
  if (keep) instances_.push_back(std::move(fresh));
  return made;
}

Result<PipelineActor::Instance> PipelineActor::make_instance(std::shared_ptr<const Binding> binding,
                                                             bool keep) {
  Instance instance;
  if (const auto bytes = plan_->arena.bytes; bytes > 0) {
    const TensorSpec spec{DType::u8, Shape{static_cast<std::int64_t>(bytes)}};
    DeviceShell& shell = device_->shell();
    const bool late = !keep && bytes >= MemoryPool::large_bytes;
    STOKER_ASSIGN(instance.arena, late ? shell.make_late_buffer(spec, "pipeline")
                                       : shell.make_buffer(spec, "pipeline"));
  }
  bind(instance, std::move(binding));
  return instance;
}

void PipelineActor::bind(Instance& instance, std::shared_ptr<const Binding> binding) {
  instance.binding = std::move(binding);
  const Binding& bound = *instance.binding;
  std::vector<std::shared_ptr<BufferState>> buffer_of(plan_->graph.values().size());
  auto replay = std::make_shared<Replay>();
  replay->uses = uses_of(bound);
  if (instance.arena) replay->uses.push_back({instance.arena, true, true});
  for (std::size_t i = 0; i < bound.size(); ++i) buffer_of[plan_->externals[i]] = bound[i];
  const auto operand_of = [&](ValueId value) {
    Operand operand;
    operand.bytes = plan_->graph.values()[value].spec->bytes();
    const ValueId stored = plan_->graph.values()[value].memory;
    if (buffer_of[stored]) {
      operand.memory = buffer_of[stored];
    } else {
      operand.memory = instance.arena;
      operand.offset = plan_->arena.offsets[plan_->item_of_value[stored]];
    }
    return operand;
  };
  for (const PlannedStage& planned : plan_->stages) {
    const GraphStage& stage = plan_->graph.stages()[planned.stage];
    CommandStep step;
    step.executable = planned.prepared->executable;
    for (const ValueId value : stage.inputs) step.inputs.push_back(operand_of(value));
    for (const ValueId value : stage.outputs) step.outputs.push_back(operand_of(value));
    for (std::size_t i = 0; i < planned.scratch_items.size(); ++i)
      step.scratch.push_back({instance.arena, plan_->arena.offsets[planned.scratch_items[i]],
                              step.executable->scratch_bytes[i]});
    step.after = planned.after;
    replay->steps.push_back(std::move(step));
  }
  instance.replay = std::move(replay);
}

std::size_t PipelineActor::on(TrimPipeline) {
  direct_.reset();
  asked_direct_ = false;
  return std::erase_if(instances_, [](const Instance& instance) { return !instance.replay->busy; });
}

}  // namespace stoker
