#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"

namespace stoker {

Result<std::shared_ptr<CompiledPipeline>> CompiledPipeline::compile(
    KernelGraph graph, std::shared_ptr<DeviceClient> device) {
  STOKER_ASSIGN(std::shared_ptr<const PipelinePlan> plan,
                PipelinePlan::make(std::move(graph), *device));
  return std::make_shared<CompiledPipeline>(std::move(plan), std::move(device));
}

CompiledPipeline::CompiledPipeline(std::shared_ptr<const PipelinePlan> plan,
                                   std::shared_ptr<DeviceClient> device)
    : plan_{std::move(plan)},
      device_{std::move(device)},
      actor_{spawn_on<PipelineActor>(device_->actor().strand(), "pipeline", plan_, device_)} {
  static_cast<void>(actor_.cell()->monitor(*device_->actor().cell()));  // it ends with its device
}

Result<CommandPtr> CompiledPipeline::run(std::span<const DeviceBuffer* const> buffers,
                                         const CommandOptions& options, Keep keep) {
  STOKER_TRY(actor_.strand()->check_process("pipeline"));  // before the lock
  STOKER_ASSIGN(auto binding, binding_of(buffers, keep));
  CommandPtr command = device_->new_command("pipeline");
  command->set_steps(static_cast<std::uint32_t>(plan_->stages.size()));
  STOKER_TRY(device_->admit(command, options));
  STOKER_TRY(send_watched({&command, 1}, [&] {
    return actor_.cast(RunPipeline{command, std::move(binding), keep == Keep::recording},
                       Run::here);
  }));
  return command;
}

Result<std::shared_ptr<const Binding>> CompiledPipeline::binding_of(
    std::span<const DeviceBuffer* const> buffers, Keep keep) {
  const auto is_of = [&](const Binding& binding) {
    return std::ranges::equal(binding, buffers, [](const auto& state, const DeviceBuffer* buffer) {
      return *buffer && state == buffer->state();
    });
  };
  {
    const std::scoped_lock lock{mutex_};
    for (const auto& known : known_)
      if (auto binding = known.lock(); binding && is_of(*binding)) {
        STOKER_TRY(plan_->check_released(*binding));
        return binding;
      }
  }
  STOKER_TRY(plan_->check_binding(buffers, *device_));
  auto binding = std::make_shared<Binding>();
  binding->reserve(buffers.size());
  for (const DeviceBuffer* buffer : buffers) binding->push_back(buffer->state());
  if (keep == Keep::recording) {
    const std::scoped_lock lock{mutex_};
    std::erase_if(known_, [](const auto& known) { return known.expired(); });
    known_.push_back(binding);
  }
  return binding;
}

Future<std::size_t> CompiledPipeline::trim() { return actor_.call(TrimPipeline{}, Run::here); }

}  // namespace stoker
