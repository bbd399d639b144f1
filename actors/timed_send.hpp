// Messages that are sent later, or periodically.
//
//     SendTimer reminder = cast_after(worker, 5s, Remind{});
//     SendTimer tick = cast_every(worker, 100ms, Tick{});
//
// Threads: any. Lifetime: the handle owns the timer, so a timer that is an actor's member stops
// when the actor ends; detach() releases it. A timer does not keep its target reachable, and stops
// when the target has ended. It uses the clock of the target's executor.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

class [[nodiscard]] SendTimer {
 public:
  SendTimer() noexcept = default;
  SendTimer(SendTimer&&) noexcept = default;
  SendTimer& operator=(SendTimer&& other) noexcept;
  ~SendTimer() { cancel(); }

  /// Stops the timer: nothing more is sent. False if it had already stopped.
  bool cancel() noexcept;
  /// Lets the timer run without the handle.
  void detach() noexcept { state_.reset(); }

 private:
  template <class A, class M>
  friend SendTimer cast_after(const ActorRef<A>& to, std::chrono::nanoseconds delay, M message);
  template <class A, class M>
  friend SendTimer cast_every(const ActorRef<A>& to, std::chrono::nanoseconds period, M message);

  class State;
  /// Calls `send` with the target as long as that can be reached and `send` returns true. A period of
  /// zero sends once.
  SendTimer(const ActorAddress& to, std::chrono::nanoseconds first, std::chrono::nanoseconds period,
            std::function<bool(std::shared_ptr<ActorCell>)> send);

  std::shared_ptr<State> state_;
};

/// Casts the message once, `delay` from now. A full mailbox drops it, like any cast.
template <class A, class M>
SendTimer cast_after(const ActorRef<A>& to, std::chrono::nanoseconds delay, M message) {
  static_assert(Handles<A, M>);
  return SendTimer{to, delay, std::chrono::nanoseconds::zero(),
                   [message = std::move(message)](std::shared_ptr<ActorCell> cell) mutable {
                     static_cast<void>(ActorRef<A>{std::move(cell)}.cast(std::move(message)));
                     return false;
                   }};
}

/// Casts a copy of the message every `period`, the first time one period from now. Periods that
/// pass while the executor is busy are skipped; the rhythm is kept. Throws invalid_argument if the
/// period is not positive.
template <class A, class M>
SendTimer cast_every(const ActorRef<A>& to, std::chrono::nanoseconds period, M message) {
  static_assert(Handles<A, M>);
  if (period <= std::chrono::nanoseconds::zero())
    throw Error{"cast_every",
                ErrorCode::invalid_argument,
                "the period must be positive",
                {{"got_ns", std::to_string(period.count())}}};
  return SendTimer{to, period, period, [message = std::move(message)](auto cell) {
                     static_cast<void>(ActorRef<A>{std::move(cell)}.cast(M{message}));
                     return true;
                   }};
}

}  // namespace stoker
