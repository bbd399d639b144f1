// Time and timers behind an interface, so that tests move time by hand.
//
// Three layers: TimerNode is the intrusive primitive (no allocation), Clock arms and disarms nodes,
// Timer is what most code uses: a handle that runs a callable on an executor.
//
// Threads: every function may be called from any thread.
// Units:   std::chrono::steady_clock; a ManualClock starts at the epoch plus one hour.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/execution/timer_queue.hpp"

namespace stoker {

class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  [[nodiscard]] virtual time_point now() const noexcept = 0;

  /// Calls node.expired() once when `due` has come, on the clock's thread. A time in the past
  /// expires at once, still from the clock's thread. The node must not be armed already.
  /// `due` may be time_point::max(): never.
  virtual void arm(TimerNode& node, time_point due) noexcept = 0;
  /// True: the node will not expire. False: it was not armed, or expired() has been called. On
  /// return expired() is not running (except when called from inside it), so the node may go.
  virtual bool disarm(TimerNode& node) noexcept = 0;
};

/// The moment `limit` after `from`, without overflow: time_point::max(), which means never, for a
/// limit that is too long, and time_point::min() for a negative one of that size. Use this wherever
/// a limit is added to a time.
[[nodiscard]] constexpr Clock::time_point deadline_after(Clock::time_point from,
                                                         Clock::duration limit) noexcept {
  using Duration = Clock::duration;
  const Duration since = from.time_since_epoch();
  if (limit > Duration::zero() && since > Duration::max() - limit) return Clock::time_point::max();
  if (limit < Duration::zero() && since < Duration::min() - limit) return Clock::time_point::min();
  return from + limit;
}

/// The steady clock of the machine; timers expire on one thread that sleeps between them.
/// The constructor throws std::system_error if the thread cannot be started. Destroy it when no
/// node is armed; after fork() the child's copy fires nothing and its destructor leaves at once.
class SystemClock final : public Clock {
 public:
  SystemClock();
  ~SystemClock() override;
  [[nodiscard]] time_point now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
  void arm(TimerNode& node, time_point due) noexcept override;
  bool disarm(TimerNode& node) noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Time that moves only by advance(). Timers expire inside advance(), in order of their due times
/// (equal times in the order they were armed); now() is the due time while each expires.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] time_point now() const noexcept override;
  /// A node that is due already expires in the next advance(), even advance(0).
  void arm(TimerNode& node, time_point due) noexcept override;
  bool disarm(TimerNode& node) noexcept override;

  /// Moves time forward and returns how many timers expired.
  std::size_t advance(duration by) noexcept;
  /// The due time of the earliest armed timer, or time_point::max().
  [[nodiscard]] time_point next_due() const noexcept { return queue_.next_due(); }

 private:
  TimerQueue queue_;
  std::atomic<duration::rep> now_{
      std::chrono::duration_cast<duration>(std::chrono::hours{1}).count()};
};

/// A callable that runs once on an executor when its time comes. Destroying or cancelling the
/// handle drops a callable that has not started; it does not wait for one that has.
class Timer {
 public:
  Timer() noexcept = default;
  Timer(Clock& clock, Clock::time_point due, Executor& executor, std::function<void()> function);
  ~Timer();
  Timer(Timer&&) noexcept = default;
  Timer& operator=(Timer&& other) noexcept;

  /// True if the callable was stopped before it began.
  bool cancel() noexcept;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace stoker
