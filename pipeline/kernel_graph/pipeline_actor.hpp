// The actor behind a pipeline: owns what its runs leave behind for the next one.
//
// A run binds a buffer to every external value; internal values live in an arena that belongs to the
// run. The arena and the recording made for it are replayed by the next run that binds the same
// buffers; a few idle ones are kept, within what all pipelines of the device may keep together. Of runs
// that keep nothing only the recordings stay, without memory: the next run puts one on its own.
//
// Threads: lives on its device's strand, where its runs are ordered with everything else.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/actors/device/device_actor.hpp"
#include "stoker/pipeline/kernel_graph/inline_run.hpp"
#include "stoker/pipeline/kernel_graph/kept_arenas.hpp"
#include "stoker/pipeline/kernel_graph/pipeline_plan.hpp"

namespace stoker {

/// The checked buffers of a run, one for each external value. Runs on the same buffers share one.
using Binding = BufferStates;

/// Starts a run. What cannot be had (out_of_memory, a recording) fails the command.
struct RunPipeline {
  CommandPtr command;
  std::shared_ptr<const Binding> binding;
  bool keep = true;        ///< whether the arena and the recording stay for a next run
  bool runs_again = true;  ///< whether one is expected, on whatever buffers
  void refused(const Error& why) const { fail_unsent(*command, why); }
};
/// Drops idle arenas and recordings; answers how many.
struct TrimPipeline {};

class PipelineActor final : public Actor {
 public:
  static constexpr std::size_t max_idle = 8;
  static constexpr std::size_t max_spare = 32;  ///< as many as a program may be ahead of its device

  PipelineActor(std::shared_ptr<const PipelinePlan> plan, std::shared_ptr<DeviceClient> device);
  ~PipelineActor() override;

  void on(RunPipeline run);
  [[nodiscard]] std::size_t on(TrimPipeline);

 private:
  void on_down(const Down& device) override { leave(device.reason); }

  /// As CommandScheduler::run_at_once().
  [[nodiscard]] std::optional<Result<void>> run_at_once(const RunPipeline& run);
  /// What a run replays, with its arena if that lives just as long.
  struct Chosen {
    std::shared_ptr<Replay> replay;
    std::shared_ptr<BufferState> passing_arena;
  };
  [[nodiscard]] Result<Chosen> replay_for(const RunPipeline& run);
  [[nodiscard]] Result<std::shared_ptr<BufferState>> make_arena(bool keep) const;
  void forget_dropped();
  /// The first of kept_ that is there still and as wanted, or null.
  template <class Wanted> [[nodiscard]] std::shared_ptr<Replay> kept(Wanted&& wanted) const;
  [[nodiscard]] std::shared_ptr<Replay> spare();

  const std::shared_ptr<const PipelinePlan> plan_;
  const std::shared_ptr<DeviceClient> device_;
  const std::shared_ptr<KeptArenas> arenas_;
  std::vector<std::weak_ptr<Replay>> kept_;     // with their memory; arenas_ owns them
  std::vector<std::shared_ptr<Replay>> spare_;  // without, while they are idle
  bool asked_direct_ = false;                   // for memory
  std::unique_ptr<InlineRun> direct_;
};

}  // namespace stoker
