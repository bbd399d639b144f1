// A process: a callable with its own stack (Boost.Context) that an executor runs. While it waits
// (for a future, a mailbox, a timeline) it is parked, and the thread does other work.
//
// Threads:   a process is resumed by a post to its executor and may wake on another thread of it.
//            Never keep the address of a thread-local (errno included) across a wait: compilers
//            cache it. Exceptions being handled travel with the process.
// Stack:     `stack_bytes` of it, with a guard page below: an overflow is a segmentation fault, not
//            a corrupted heap. Stacks of the default size are pooled by the executor.
// Lifetime: a process keeps an executor that a std::shared_ptr holds until it ends. It must end
//            before any other executor is destroyed; that executor's owner must close what its
//            processes wait for. A process that was parked when a host destroyed its event loop
//            never runs again: its future fails with `closed`, its stack is leaked on purpose (what
//            it refers to may be gone), and that is logged.
// Errors:    an exception that leaves the callable becomes the Error of the future.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/parker.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

class ContextScope;

struct ProcessOptions {
  static constexpr std::size_t default_stack_bytes = std::size_t{64} * 1024;
  std::size_t stack_bytes = default_stack_bytes;  ///< rounded up to pages
  std::string name = {};                          ///< for logs and traces
};

/// Schedules a process whenever it can continue. Must outlive the process.
class ProcessScheduler {
 public:
  /// Runs the task soon, exactly once (or drops it); never inside this call. Any thread.
  virtual void schedule(Task& process) noexcept = 0;
  /// See Interruptible (parker.hpp). On the stack of the process.
  [[nodiscard]] virtual bool interruptible(Parker* /*parker*/) noexcept { return true; }

 protected:
  ~ProcessScheduler() = default;
};

/// The function that runs on the stack. Implemented by Process::spawn.
class ProcessBody {
 public:
  virtual ~ProcessBody() = default;
  /// On the stack of the process.
  virtual void run() noexcept = 0;
  /// Called after run(), when stack and executor are no longer in use: completes the future.
  virtual void ended() noexcept = 0;
  /// Called instead of ended() if the process can never run again.
  virtual void lost() noexcept = 0;
};

/// The stack, its switching and its scheduling. Owns itself from start() until the body ends.
class ProcessBase final : private Task, private BlockingContext, private Resumable {
 public:
  /// `scheduler` decides where it runs (null: it is posted to the executor). Throws std::bad_alloc
  /// if there is no memory for a stack.
  static void start(Executor& executor, std::unique_ptr<ProcessBody> body, ProcessOptions options,
                    ProcessScheduler* scheduler = nullptr);

  /// The process the calling code runs in, or null.
  [[nodiscard]] static ProcessBase* current() noexcept;
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] Executor& executor() const noexcept { return *executor_; }
  /// Lets other work of the executor run first. Call it only from inside the process.
  void yield() noexcept;
  /// The innermost scope of the process. Call it only from inside the process.
  [[nodiscard]] ContextScope*& scopes() noexcept { return scopes_; }

 private:
  struct Switch;
  enum class Request : std::uint8_t { none, yield, park, end };
  struct Deleter;

  ProcessBase(Executor& executor, std::unique_ptr<ProcessBody> body, ProcessOptions options,
              ProcessScheduler* scheduler);
  ~ProcessBase();
  void run() noexcept override;
  void drop() noexcept override;
  void block(Parker& parker,
             const std::chrono::steady_clock::time_point* deadline) noexcept override;
  [[nodiscard]] Clock* clock() noexcept override { return &executor_->clock(); }
  [[nodiscard]] bool interruptible(Parker* parker) noexcept override {
    return scheduler_ == nullptr || scheduler_->interruptible(parker);
  }
  void resume() noexcept override { schedule(); }
  void schedule() noexcept;
  void leave(Request request) noexcept;

  std::shared_ptr<Executor> executor_;
  ProcessScheduler* scheduler_;
  std::unique_ptr<ProcessBody> body_;
  std::unique_ptr<Switch> switch_;
  Parker* parker_ = nullptr;
  Request request_ = Request::none;
  ContextScope* scopes_ = nullptr;
  std::string name_;
};

namespace detail {
template <class R, class F> class ProcessFunction final : public ProcessBody {
 public:
  explicit ProcessFunction(F function) : function_(std::move(function)) {}
  [[nodiscard]] Future<R> future() const noexcept { return promise_.future(); }
  void run() noexcept override {
    result_.emplace(call_as_result<R>("process", *function_));
    function_.reset();  // here, so that destructors may wait too
  }
  void ended() noexcept override { promise_.set(std::move(*result_)); }
  void lost() noexcept override { promise_.set(broken_promise("process")); }

 private:
  std::optional<F> function_;
  std::optional<Result<R>> result_;
  Promise<R> promise_;
};
}  // namespace detail

class Process {
 public:
  /// Starts `function` (called without arguments) as a process. The future holds what it returns
  /// (U, void or Result<U>) or the exception it throws, and may be dropped: a failure is logged.
  /// Throws std::bad_alloc if there is no memory for the stack.
  template <class F>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): moved on
  static auto spawn(Executor& executor, F&& function, ProcessOptions options = {})
      -> Future<unwrapped_t<std::invoke_result_t<std::decay_t<F>&>>> {
    using R = unwrapped_t<std::invoke_result_t<std::decay_t<F>&>>;
    auto body =
        std::make_unique<detail::ProcessFunction<R, std::decay_t<F>>>(std::forward<F>(function));
    Future<R> future = body->future();
    ProcessBase::start(executor, std::move(body), std::move(options));
    return future;
  }
};

namespace this_process {
/// Whether the caller runs in a process.
[[nodiscard]] bool inside() noexcept;
/// The name of the current process; empty outside of one.
[[nodiscard]] std::string_view name() noexcept;
/// Lets other work of the executor run first; on a plain thread std::this_thread::yield().
void yield() noexcept;
/// Parks (or, on a plain thread, blocks) until `when` on the clock.
void sleep_until(Clock& clock, Clock::time_point when) noexcept;
inline void sleep_for(Clock& clock, Clock::duration time) noexcept {
  sleep_until(clock, deadline_after(clock.now(), time));
}
}  // namespace this_process

}  // namespace stoker
