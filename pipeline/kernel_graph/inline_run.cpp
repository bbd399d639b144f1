#include "stoker/pipeline/kernel_graph/inline_run.hpp"

#include <algorithm>

#include "stoker/device/commands/command_scheduler.hpp"

namespace stoker {
namespace {

MemoryView part_of(MemoryView whole, std::uint64_t offset, std::uint64_t bytes) {
  return {whole.block, whole.offset + offset, bytes};
}

}  // namespace

std::unique_ptr<InlineRun> InlineRun::make(const PipelinePlan& plan, CommandScheduler& scheduler) {
  auto made = std::make_unique<InlineRun>();
  if (plan.arena.bytes > 0) {
    auto arena = scheduler.pool().lease(plan.arena.bytes, MemoryKind::device, "pipeline");
    if (!arena) return nullptr;
    made->arena_ = *std::move(arena);
  }
  const auto& values = plan.graph.values();
  const auto view = [&](ValueId value, Place place) {
    const ValueId stored = values[value].memory;
    const std::uint64_t bytes = values[value].spec->bytes();
    const auto external = std::ranges::find(plan.externals, stored);
    if (external == plan.externals.end())
      return part_of(made->arena_->view(), plan.arena.offsets[plan.item_of_value[stored]], bytes);
    place.external = static_cast<std::uint32_t>(external - plan.externals.begin());
    made->places_.push_back(place);
    return MemoryView{};
  };
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    const PlannedStage& planned = plan.stages[i];
    const GraphStage& stage = plan.graph.stages()[planned.stage];
    Step step;
    step.executable = planned.prepared->executable;
    for (std::uint32_t k = 0; k < stage.inputs.size(); ++k)
      step.inputs.push_back(view(stage.inputs[k], {i, false, k, 0}));
    for (std::uint32_t k = 0; k < stage.outputs.size(); ++k)
      step.outputs.push_back(view(stage.outputs[k], {i, true, k, 0}));
    for (std::size_t k = 0; k < planned.scratch_items.size(); ++k)
      step.scratch.push_back(part_of(made->arena_->view(),
                                     plan.arena.offsets[planned.scratch_items[k]],
                                     step.executable->scratch_bytes[k]));
    made->steps_.push_back(std::move(step));
  }
  return made;
}

}  // namespace stoker
