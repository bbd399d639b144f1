// Lowered programs for people.
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"
#include "stoker/pipeline/tensor/lowering/lowering.hpp"

namespace stoker::expr {
namespace {

std::string name_of(const LoweredProgram::Slot& slot) {
  if (slot.made) return "b" + std::to_string(slot.index);
  return "in" + std::to_string(slot.index) +
         (slot.output > 0 ? "." + std::to_string(slot.output) : "");
}

std::string pipeline_text(const LoweredProgram::Step& step) {
  const PipelinePlan& plan = step.pipeline->plan();
  const auto& values = plan.graph.values();
  const auto externals = step.pipeline->externals();
  const auto value_text = [&](ValueId value) {
    const ValueId stored = values[value].memory;
    for (std::size_t i = 0; i < externals.size(); ++i)
      if (externals[i] == stored) return name_of(step.slots[i]);
    return "arena+" + std::to_string(plan.arena.offsets[plan.item_of_value[stored]]);
  };
  std::string text = "pipeline of " + std::to_string(plan.stages.size()) + " kernels, arena of " +
                     std::to_string(plan.arena.bytes) + " bytes (" +
                     std::to_string(plan.arena.unshared_bytes) + " without sharing)\n";
  for (const PlannedStage& planned : plan.stages) {
    const GraphStage& stage = plan.graph.stages()[planned.stage];
    text += "  " + stage.kernel->name;
    for (const ValueId input : stage.inputs)
      text += " " + values[input].spec->to_string() + ":" + value_text(input);
    text += " ->";
    for (const ValueId output : stage.outputs)
      text += " " + values[output].spec->to_string() + ":" + value_text(output);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string LoweredProgram::to_text() const {
  std::string text;
  for (const Step& step : steps) {
    if (step.pipeline) {
      text += pipeline_text(step);
      continue;
    }
    text += "host " + step.host->name();
    for (const Slot& slot : step.slots) text += " " + name_of(slot);
    text += " ->";
    for (const Slot& slot : step.outputs) text += " " + name_of(slot);
    text += "\n";
  }
  for (std::size_t i = 0; i < made.size(); ++i)
    text += "b" + std::to_string(i) + " = " + made[i].to_string() + "\n";
  text += "return";
  for (const Slot& slot : results) text += " " + name_of(slot);
  return text + "\n";
}

}  // namespace stoker::expr
