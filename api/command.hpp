// The handle of one piece of work that a device does: a kernel, a copy, a pipeline's run.
//
// A handle is there at once; the result comes later. Dropping it never cancels the work and never
// loses an error: a failure that nobody looked at is logged, once neither a handle nor an output that
// still carries it is left.
//
// Threads: any handle may be copied, used and destroyed on any thread. A handle that was made
//          without a command may only be assigned, destroyed and asked whether it has one.
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

  /// Unique on its device, from 1.
  [[nodiscard]] std::uint64_t id() const noexcept;
  /// The kernel's name, or "copy", "fill", "read", "write", "pipeline".
  [[nodiscard]] const std::string& kernel() const noexcept;
  /// Never blocks. Who sees `failed` has looked at the failure.
  [[nodiscard]] CommandStatus poll() const noexcept;
  [[nodiscard]] bool ready() const noexcept { return state_->ready(); }

  /// Waits: parks a process or a fiber, blocks a plain thread. Never throws.
  Result<void> wait() const { return future().wait(); }
  /// As wait(), at most that long; the Error is deadline_exceeded if the command is not done then
  /// (it goes on).
  Result<void> wait_for(std::chrono::nanoseconds patience) const;
  /// As wait(), throwing the Error.
  void get() const { wait().value(); }

  /// What is pending never runs; what runs is marked and its result dropped. Either way the command
  /// and what depends on it end with `cancelled`. The same as future().cancel().
  void cancel() const { state_->cancel(); }

  /// Runs `function(const Result<void>&)` on the executor when done; a future of what it returns.
  template <class F> auto then(Executor& executor, F&& function) const {
    return future().then(executor, std::forward<F>(function));
  }

  /// The same outcome as a future: for when_all, when_any, co_await and async_wait (api/asio.hpp).
  [[nodiscard]] Future<void> future() const { return Future<void>{state_}; }

  /// Steps done and in all: a pipeline's run has one per stage.
  [[nodiscard]] std::uint32_t steps_done() const noexcept;
  [[nodiscard]] std::uint32_t steps() const noexcept;
  /// What has become of one of them, by its place in the order of execution. Steps that may overlap
  /// are counted: with n done, the first n are said to be completed.
  [[nodiscard]] CommandStatus step_status(std::uint32_t step) const noexcept;

  /// Time on the device, while the system's trace is enabled; else zero.
  [[nodiscard]] std::chrono::nanoseconds device_time() const;
  /// The same for each step of a pipeline's run, in the order of execution.
  [[nodiscard]] std::vector<std::chrono::nanoseconds> step_times() const;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Whoever calls this includes device/command_state.hpp.
  [[nodiscard]] boost::intrusive_ptr<CommandState> state() const noexcept;

 private:
  [[nodiscard]] CommandState& command() const noexcept;

  boost::intrusive_ptr<FutureState<void>> state_;  ///< a CommandState
  std::shared_ptr<DeviceClient> device_;
};

}  // namespace stoker
