// A checked graph made ready for one device. Runs many times and concurrently.
//
// Threads: any. Lifetime: shared; it keeps its device client.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "stoker/actors/device/command_options.hpp"
#include "stoker/pipeline/kernel_graph/pipeline_actor.hpp"

namespace stoker {

/// What a run leaves for the next one.
enum class Keep : std::uint8_t {
  recording,         ///< its arena and its recording, for the same buffers
  moving_recording,  ///< a recording that is ready for other buffers: the next run is expected
  nothing,           ///< for a run that may be the only one: nothing is made for a next one
};

class CompiledPipeline final {
 public:
  /// Checks the whole graph and prepares every kernel; nothing runs. Errors: PipelinePlan::make().
  [[nodiscard]] static Result<std::shared_ptr<CompiledPipeline>> compile(
      KernelGraph graph, std::shared_ptr<DeviceClient> device);

  CompiledPipeline(std::shared_ptr<const PipelinePlan> plan, std::shared_ptr<DeviceClient> device);

  [[nodiscard]] const PipelinePlan& plan() const noexcept { return *plan_; }
  [[nodiscard]] const KernelGraph& graph() const noexcept { return plan_->graph; }
  [[nodiscard]] std::span<const ValueId> externals() const noexcept { return plan_->externals; }
  [[nodiscard]] std::span<const PlannedStage> stages() const noexcept { return plan_->stages; }
  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept { return device_; }

  /// Starts a run with one buffer for each of externals(). Refused at once, with nothing changed:
  /// PipelinePlan::check_binding(). A lack of memory for internal values fails the command.
  [[nodiscard]] Result<CommandPtr> run(std::span<const DeviceBuffer* const> buffers,
                                       const CommandOptions& options = {},
                                       Keep keep = Keep::recording);

  /// Runs on this thread before it returns, past the device's queue: for small work, and for work that the thread would
  /// else wait for. The buffers that are written must be new: nobody else knows them. Returns false if it may not or
  /// cannot, or if a step fails, which run() then reports; the caller runs it as ever. `waits`: the caller is a thread
  /// that waits for what it starts (thread_waits.hpp). Threads: any plain one.
  [[nodiscard]] bool run_here(std::span<const DeviceBuffer* const> buffers, bool waits);

  /// Drops idle arenas and recordings; their number.
  [[nodiscard]] Future<std::size_t> trim();

 private:
  /// The binding of these buffers: checked now, or found among those that the actor still keeps.
  [[nodiscard]] Result<std::shared_ptr<const Binding>> binding_of(
      std::span<const DeviceBuffer* const> buffers, Keep keep);
  [[nodiscard]] bool may_run_here(bool waits) const noexcept;
  /// For one run of one thread; null if there is no memory.
  [[nodiscard]] std::unique_ptr<InlineRun> take_inline_run();
  void give_back(std::unique_ptr<InlineRun> run) noexcept;

  const std::shared_ptr<const PipelinePlan> plan_;
  const std::shared_ptr<DeviceClient> device_;
  const ActorRef<PipelineActor> actor_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<const Binding>> known_;  ///< guarded by mutex_
  std::vector<std::unique_ptr<InlineRun>> idle_;     ///< guarded by mutex_
  std::atomic<bool> device_runs_here_{true};         ///< until it says that it does not
};

}  // namespace stoker
