// A handle to one piece of device work: a kernel, a copy, a pipeline's run.
//
// The handle is returned at once; the result comes later. Dropping it never cancels the work and
// never loses an error: a failure that nobody looked at is logged when the last handle and the last
// output that carries it are gone.
//
// Threads: any handle may be copied, used and destroyed on any thread. A default-constructed handle
//          is empty: only assignment, destruction and operator bool are allowed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/actors/device/command_options.hpp"
#include "stoker/device/command_status.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

class CommandState;
class DeviceClient;

class Command {
 public:
  Command() = default;
  Command(boost::intrusive_ptr<CommandState> state, std::shared_ptr<DeviceClient> device) noexcept;

  /// Unique on its device; counted from 1.
  [[nodiscard]] std::uint64_t id() const noexcept;
  /// The kernel's name, or "copy", "fill", "read", "write", "pipeline".
  [[nodiscard]] const std::string& kernel() const noexcept;
  /// Never blocks. Returning `failed` counts as looking at the failure.
  [[nodiscard]] CommandStatus poll() const noexcept;
  [[nodiscard]] bool ready() const noexcept { return state_->ready(); }

  /// Waits for the end: parks a process or a fiber, blocks a plain thread. Never throws.
  Result<void> wait() const { return future().wait(); }
  /// As wait(), but for at most `patience`. The Error is deadline_exceeded if the command is not
  /// done by then; the command keeps running.
  Result<void> wait_for(std::chrono::nanoseconds patience) const;
  /// As wait(), but throws the Error.
  void get() const { wait().value(); }

  /// A pending command never runs; a running one is marked and its result dropped. Either way the
  /// command and all that depends on it end with `cancelled`. The same as future().cancel().
  void cancel() const { state_->cancel(); }

  /// Runs `function(const Result<void>&)` on the executor when done; returns a future of its
  /// result.
  template <class F> auto then(Executor& executor, F&& function) const {
    return future().then(executor, std::forward<F>(function));
  }

  /// The same outcome as a future: for when_all, when_any, co_await and async_wait (api/asio.hpp).
  [[nodiscard]] Future<void> future() const { return Future<void>{state_}; }

  /// Steps done, and steps in total: a pipeline's run has one step per stage.
  [[nodiscard]] std::uint32_t steps_done() const noexcept;
  [[nodiscard]] std::uint32_t steps() const noexcept;
  /// The status of one step, by its position in the order of execution. Where steps may overlap,
  /// only their number is known: with n done, the first n are reported as completed. Requires
  /// step < steps().
  [[nodiscard]] CommandStatus step_status(std::uint32_t step) const noexcept;

  /// Time on the device if the system's trace was enabled, else zero.
  [[nodiscard]] std::chrono::nanoseconds device_time() const;
  /// The same for each step of a pipeline's run, in the order of execution.
  [[nodiscard]] std::vector<std::chrono::nanoseconds> step_times() const;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  /// For Stoker's own layers; callers need the definition of CommandState.
  [[nodiscard]] boost::intrusive_ptr<CommandState> state() const noexcept;

 private:
  [[nodiscard]] CommandState& command() const noexcept;

  boost::intrusive_ptr<FutureState<void>> state_;  ///< a CommandState
  std::shared_ptr<DeviceClient> device_;
};

}  // namespace stoker
