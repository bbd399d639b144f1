#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/runtime/base/spin_then_lock.hpp"

namespace stoker {
namespace {

/// What runs of callers leave for the next ones: so many, whose arenas have so many bytes together.
constexpr std::size_t most_idle = 4;
constexpr std::uint64_t most_idle_bytes = std::uint64_t{1} << 20;

}  // namespace

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
  // First: once it is admitted, whoever watches it may keep it beyond the buffers.
  for (const ReplayPlan::Use& use : plan_->replay->uses)
    if (use.writes && use.buffer < binding->size())
      command->work.writes.add(*(*binding)[use.buffer]);
  STOKER_TRY(device_->admit(command, options));
  STOKER_TRY(send_watched({&command, 1}, [&] {
    return actor_.cast(
        RunPipeline{command, std::move(binding), keep == Keep::recording, keep != Keep::nothing},
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

bool CompiledPipeline::may_run_here(bool waits) const noexcept {
  if (!device_runs_here_.load(std::memory_order_relaxed)) return false;
  if (plan_->cost_ns <= at_once_ns) return true;
  if (!waits || plan_->cost_ns > while_waiting_ns || plan_->arena.bytes > most_idle_bytes)
    return false;
  // Beside others that compute, a share of the device's threads is not to be had.
  return plan_->gain_ns <= at_once_ns || device_->scheduler().settled_reads().others_run();
}

bool CompiledPipeline::run_here(std::span<const DeviceBuffer* const> buffers, bool waits) {
  if (!may_run_here(waits) || !actor_.strand()->check_process("pipeline")) return false;
  if (!plan_->check_binding(buffers, *device_)) return false;
  boost::container::small_vector<BufferState*, 16> states;
  for (const DeviceBuffer* const buffer : buffers)
    states.push_back(actor_behind(*buffer).state().get());
  auto reading = device_->scheduler().read_settled({states.data(), states.size()});
  if (!reading) return false;
  std::unique_ptr<InlineRun> run = take_inline_run();
  if (!run) return false;
  std::optional<Error> failure;
  const auto steps = run->bind(std::span<BufferState* const>{states.data(), states.size()});
  const bool ran = device_->scheduler().backend()->run_at_once(steps, failure);
  give_back(std::move(run));
  if (!ran) device_runs_here_.store(false, std::memory_order_relaxed);
  if (!ran || failure) return false;
  device_->scheduler().count_done(reading, true);
  return true;
}

std::unique_ptr<InlineRun> CompiledPipeline::take_inline_run() {
  {
    const auto lock = spin_then_lock(mutex_);
    if (!idle_.empty()) {
      auto run = std::move(idle_.back());
      idle_.pop_back();
      return run;
    }
    idle_.reserve(most_idle);  // so that giving back takes no memory
  }
  return InlineRun::make(*plan_, device_->scheduler());
}

void CompiledPipeline::give_back(std::unique_ptr<InlineRun> run) noexcept {
  const auto lock = spin_then_lock(mutex_);
  const std::uint64_t bytes = (idle_.size() + 1) * plan_->arena.bytes;
  if (idle_.size() < most_idle && bytes <= most_idle_bytes) idle_.push_back(std::move(run));
}

Future<std::size_t> CompiledPipeline::trim() {
  std::vector<std::unique_ptr<InlineRun>> dropped;  // outside the lock
  if (actor_.strand()->check_process("pipeline")) {
    const auto lock = spin_then_lock(mutex_);
    dropped.swap(idle_);
  }
  return actor_.call(TrimPipeline{}, Run::here);
}

}  // namespace stoker
