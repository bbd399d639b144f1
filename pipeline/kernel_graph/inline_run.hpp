// The steps of a pipeline that the calling thread runs itself, with memory for what lies between them.
//
// Threads: one at a time. One run at a time, so one arena serves all.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/device/memory/buffer_state.hpp"
#include "stoker/device/memory/memory_pool.hpp"
#include "stoker/pipeline/kernel_graph/pipeline_plan.hpp"

namespace stoker {

class CommandScheduler;

class InlineRun {
 public:
  /// Returns null if there is no memory for it.
  [[nodiscard]] static std::unique_ptr<InlineRun> make(const PipelinePlan& plan,
                                                       CommandScheduler& scheduler);

  /// The steps with these buffers (pointers of any kind), one for each external value. Valid until the next call.
  template <class Buffer>
  [[nodiscard]] std::span<const Step> bind(std::span<const Buffer> binding) noexcept {
    for (const Place& place : places_) {
      Step& step = steps_[place.step];
      MemoryView& view = place.output ? step.outputs[place.operand] : step.inputs[place.operand];
      view = binding[place.external]->memory->view();
    }
    return steps_;
  }

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
