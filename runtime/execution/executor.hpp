// Where work runs. Everything asynchronous in Stoker resumes through an Executor, so that a host
// decides which threads run our code: our own pool (thread_pool.hpp), the host's event loop
// (api/asio.hpp) or a test (manual_executor.hpp).
//
// Threads:  post and defer may be called from any thread.
// Lifetime: an executor that a std::shared_ptr holds lives until the last continuation, process and
//           timer on it has ended (keep()). Any other executor must outlive all work posted to it.
// Errors: only post(F) throws: it allocates and may throw std::bad_alloc.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "stoker/runtime/execution/task.hpp"

namespace stoker {

class Clock;
class StackPool;
class StallDetector;

class Executor : public std::enable_shared_from_this<Executor> {
 public:
  Executor();
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Runs the task exactly once, soon, on one of the executor's threads; never inside this call.
  virtual void post(Task& task) noexcept = 0;

  /// As post(), but if a brief task of this executor is running on this thread, the new task may
  /// run after it instead of waking another thread. This makes it cheap to continue the current
  /// work. A task that defers itself must do so at its end; it is queued behind all waiting tasks.
  virtual void defer(Task& task) noexcept { post(task); }

  /// Whether the calling thread is running a task of this executor.
  [[nodiscard]] virtual bool in_executor() const noexcept = 0;

  /// How many messages an actor may handle before others have a turn.
  [[nodiscard]] virtual int turn_budget() const noexcept { return 64; }

  /// The clock that timers and time-outs of work on this executor use.
  [[nodiscard]] virtual Clock& clock() const noexcept = 0;

  /// For work that will be posted later: a shared pointer to this executor if it is shared,
  /// otherwise its plain address. A pointer that may be the last one must be released on a thread of
  /// this executor.
  [[nodiscard]] virtual std::shared_ptr<Executor> keep() noexcept {
    if (auto shared = weak_from_this().lock()) return shared;
    return {std::shared_ptr<void>{}, this};
  }

  /// Posts a callable. An exception it throws is logged and goes no further.
  template <class F>
  requires(std::invocable<std::decay_t<F>&> &&
           !std::derived_from<std::remove_cvref_t<F>, Task>) void post(F&& function);

  /// Detects work that hogs a thread; off until it is started.
  [[nodiscard]] StallDetector& stall_detector() const noexcept { return *turn_watch_; }

  /// Stacks of processes that have ended, kept for the next ones.
  [[nodiscard]] StackPool& stacks() noexcept { return *stacks_; }
  /// Processes spawned here that have not ended. They must end before the executor is destroyed.
  [[nodiscard]] std::size_t live_processes() const noexcept { return live_processes_.load(); }

 private:
  friend class ProcessBase;
  std::unique_ptr<StackPool> stacks_;
  std::unique_ptr<StallDetector> turn_watch_;
  std::atomic<std::size_t> live_processes_{0};
};

namespace detail {
/// Logs the exception in flight. Call it inside a catch block only.
void log_escaped_exception(const char* where) noexcept;

template <class F> class FunctionTask final : public Task {
 public:
  explicit FunctionTask(F function) : function_(std::move(function)) {}
  void run() noexcept override {
    const std::unique_ptr<FunctionTask> self{this};
    try {
      function_();
    } catch (...) {
      log_escaped_exception("executor.post");
    }
  }
  void drop() noexcept override { const std::unique_ptr<FunctionTask> self{this}; }

 private:
  F function_;
};
}  // namespace detail

template <class F>
requires(std::invocable<std::decay_t<F>&> &&
         !std::derived_from<std::remove_cvref_t<F>, Task>) void Executor::post(F&& function) {
  auto task = std::make_unique<detail::FunctionTask<std::decay_t<F>>>(std::forward<F>(function));
  Task& posted = *task.release();  // owns itself until it has run
  post(posted);
}

}  // namespace stoker
