// What a run does after its first cut: followed along the plans that are there by whoever is there first, a process
// or the plain thread that waits for the outputs. That thread would otherwise be woken, as the process is, and both
// take longer than a GPU takes for a small model. What must be traced is always traced in a process, on a stack for it.
//
// Ownership: the future's state; the process holds a reference until there is an outcome. A process that comes after it
// keeps no outputs. Threads: any, one at a time does the work.
// Errors: those of the run, in the future; `closed` if the executor ends before.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "stoker/api/onnx/run/model.hpp"
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
  struct Shared;
  class Process;
  explicit RestOfRun(std::shared_ptr<Shared> shared) noexcept : shared_{std::move(shared)} {}

  const std::shared_ptr<Shared> shared_;
};

}  // namespace stoker::onnx
