// A pipeline so small that running it takes less than handing it over: its steps, ready to be run inside
// of the call that asks for it.
//
// Threads: its pipeline's strand. One run at a time, so one arena serves all.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/device/memory_pool.hpp"
#include "stoker/pipeline/kernel_graph/pipeline_plan.hpp"

namespace stoker {

class CommandScheduler;

class InlineRun {
 public:
  /// Null if the plan is not small, its cost is not known, or there is no memory for it.
  [[nodiscard]] static std::unique_ptr<InlineRun> make(const PipelinePlan& plan,
                                                       CommandScheduler& scheduler);

  /// The steps on these buffers, one for each external value; valid until the next call.
  [[nodiscard]] std::span<const Step> bind(
      std::span<const std::shared_ptr<BufferState>> binding) noexcept;

 private:
  /// An operand that each run says anew.
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
