// What a run does after its first cut: followed along the plans that are there by whoever is there first, a process
// or the plain thread that waits for the outputs. That thread would otherwise be woken, as the process is, and both
// take longer than a GPU takes for a small model. What must be traced is always traced in a process, on a stack for it.
//
// Ownership: the future's state; the process holds a reference. Threads: any, one at a time does the work.
// Errors: those of the run, in the future; `closed` if the executor ends before.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker::onnx {

class RestOfRun final : public FutureState<NamedValues> {
 public:
  /// Both may wait. They are called once at most, `whole` after or without `followed`.
  struct Work {
    std::function<std::optional<NamedValues>()> followed;  ///< nothing: a trace must come next
    std::function<NamedValues()> whole;
  };
  /// `executor` runs processes that need `stack_bytes`; it outlives what `work` holds. Throws std::bad_alloc.
  [[nodiscard]] static Future<NamedValues> start(Executor& executor, std::size_t stack_bytes,
                                                 Work work);

  /// Of a waiter with a deadline nothing is done: a run may take longer.
  void assist(time_point deadline) noexcept override;

 private:
  class Process;
  RestOfRun(Executor& executor, std::size_t stack_bytes, Work work)
      : executor_{executor}, stack_bytes_{stack_bytes}, work_{std::move(work)} {}
  /// `taken`: for whom the caller holds the work already.
  void spawn(bool taken);
  [[nodiscard]] bool take() noexcept { return !taken_.exchange(true, std::memory_order_acq_rel); }

  Executor& executor_;  ///< of the device that `work_` holds
  const std::size_t stack_bytes_;
  std::atomic<bool> taken_{false};
  Work work_;  // of whoever has taken it
};

}  // namespace stoker::onnx
