#include "stoker/pipeline/compiled_pipeline.hpp"

namespace stoker {

Result<std::shared_ptr<CompiledPipeline>> CompiledPipeline::compile(
    Graph graph, std::shared_ptr<DeviceClient> device) {
  STOKER_ASSIGN(std::shared_ptr<const PipelinePlan> plan,
                PipelinePlan::make(std::move(graph), *device));
  return std::make_shared<CompiledPipeline>(std::move(plan), std::move(device));
}

CompiledPipeline::CompiledPipeline(std::shared_ptr<const PipelinePlan> plan,
                                   std::shared_ptr<DeviceClient> device)
    : plan_{std::move(plan)},
      device_{std::move(device)},
      actor_{adopt_actor(std::make_shared<PipelineActor>(plan_, device_), device_->actor().strand(),
                         "pipeline")} {}

Result<CommandPtr> CompiledPipeline::run(std::span<const DeviceBuffer* const> buffers,
                                         const CommandOptions& options, Keep keep) {
  STOKER_TRY(plan_->check_binding(buffers, *device_));
  CommandPtr command = device_->new_command("pipeline");
  command->set_steps(static_cast<std::uint32_t>(plan_->stages.size()));
  RunPipeline run{command, {}, keep == Keep::recording};
  run.bound.reserve(buffers.size());
  for (const DeviceBuffer* buffer : buffers) run.bound.push_back(buffer->state());
  STOKER_TRY(device_->admit(command, options));
  const auto sent = actor_.cast(std::move(run), Run::here);
  if (!sent) return sent.error();
  return command;
}

Future<std::size_t> CompiledPipeline::trim() { return actor_.call(TrimPipeline{}, Run::here); }

}  // namespace stoker
