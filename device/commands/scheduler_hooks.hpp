// What a device's scheduler asks of its owner.
//
// Threads: stated for each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "stoker/device/commands/command_state.hpp"

namespace stoker {

/// Told what happens, for traces and metrics. Called on the strand unless a line says otherwise; must be quick.
class SchedulerObserver {
 public:
  virtual ~SchedulerObserver() = default;
  virtual void on_settled(const CommandState& command, const Error* failure,
                          StepTiming timing) noexcept = 0;
  /// A thread has done without a command what one would have done. Any thread.
  virtual void on_done_past_the_queue() noexcept {}
  /// A turn has ended; nanoseconds on the steady clock. Only while wants_timing().
  virtual void on_turn(std::uint64_t /*begin_ns*/, std::uint64_t /*end_ns*/) noexcept {}
  /// Whether submissions should be timed right now. Any thread.
  [[nodiscard]] virtual bool wants_timing() const noexcept = 0;
};

struct SchedulerHooks {
  /// Asks the owner to call turn() on the strand soon. Any thread.
  std::function<void()> notify;
  /// Runs a function off the strand, or destroys it. Called on the strand. Both may do nothing once the
  /// owner is gone.
  std::function<void(std::function<void()>)> run_later;
  std::shared_ptr<SchedulerObserver> observer = {};

  [[nodiscard]] bool wants_timing() const noexcept { return observer && observer->wants_timing(); }
};

}  // namespace stoker
