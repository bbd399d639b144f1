// The steps of a pipeline that takes less time to run than to hand over to the device: they run inside the call.
//
// Threads: its pipeline's strand. One run at a time, so one arena serves all.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/device/memory/memory_pool.hpp"
#include "stoker/pipeline/kernel_graph/pipeline_plan.hpp"

namespace stoker {

class CommandScheduler;

class InlineRun {
 public:
  /// Returns null if the plan is not small, if its cost is unknown, or if there is no memory for it.
  [[nodiscard]] static std::unique_ptr<InlineRun> make(const PipelinePlan& plan,
                                                       CommandScheduler& scheduler);

  /// The steps with these buffers, one for each external value. Valid until the next call.
  [[nodiscard]] std::span<const Step> bind(
      std::span<const std::shared_ptr<BufferState>> binding) noexcept;

 private:
  /// An operand that each run sets.
  struct Place {
    std::uint32_t step = 0;
    bool output = false;
    std::uint32_t operand = 0;
    std::uint32_t external = 0;
  };
  std::shared_ptr<MemoryLease> arena_;
  std::vector<Step> steps_;
  std::vector<Place> places_;
};

}  // namespace stoker
