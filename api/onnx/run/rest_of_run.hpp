// The part of a run after its first cut. Either a process or the plain thread that waits for the outputs follows the
// existing plans, whichever is first. Waking the process and then the thread would take longer than a GPU needs for a
// small model. Traces always run in a process, with a stack of sufficient size.
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
  /// Both may wait. Each is called at most once; `whole` may be called after or without `followed`.
  struct Work {
    std::function<std::optional<NamedValues>()> followed;  ///< nothing: a trace must come next
    std::function<NamedValues()> whole;
  };
  /// `executor` runs processes with stacks of `stack_bytes`; it must outlive the captures of `work`. Throws
  /// std::bad_alloc.
  [[nodiscard]] static Future<NamedValues> start(Executor& executor, std::size_t stack_bytes,
                                                 Work work);

  /// Does nothing for a waiter with a deadline, because a run may take longer.
  void assist(time_point deadline) noexcept override;

 private:
  struct Shared;
  class Process;
  explicit RestOfRun(std::shared_ptr<Shared> shared) noexcept : shared_{std::move(shared)} {}

  const std::shared_ptr<Shared> shared_;
};

}  // namespace stoker::onnx
