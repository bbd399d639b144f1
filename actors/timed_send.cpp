#include "stoker/actors/timed_send.hpp"

#include <mutex>

#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

/// The timer refers to it while armed, so it lives as long as there is something to send.
class SendTimer::State final : public std::enable_shared_from_this<State> {
 public:
  State(const ActorAddress& to, std::chrono::nanoseconds period,
        std::function<bool(std::shared_ptr<ActorCell>)> send)
      : target_{to.cell()},
        executor_{to.existing("cast_after").strand()->shared_executor()},
        period_{period},
        send_{std::move(send)} {}

  void arm(std::chrono::nanoseconds first) {
    due_ = deadline_after(executor_->clock().now(), first);
    const std::scoped_lock lock{mutex_};
    arm_locked();
  }

  bool cancel() noexcept {
    if (fork_.forked()) return false;  // a thread of the parent may hold the lock
    Timer stopped;
    const std::scoped_lock lock{mutex_};
    stopped = std::move(timer_);
    return !std::exchange(over_, true);
  }

 private:
  void arm_locked() {
    timer_ =
        Timer{executor_->clock(), due_, *executor_, [self = shared_from_this()] { self->send(); }};
  }

  void send() {
    {
      const std::scoped_lock lock{mutex_};
      if (over_) return;
      if (period_ == std::chrono::nanoseconds::zero()) over_ = true;
    }
    auto cell = target_.lock();
    bool again = cell && cell->alive();
    if (again) try {
        again = send_(std::move(cell));
      } catch (...) {  // without memory this one is lost, and the next is tried
        detail::log_escaped_exception("cast_every");
      }
    Timer spent;  // its own callable runs, and is destroyed outside the lock
    const std::scoped_lock lock{mutex_};
    spent = std::move(timer_);
    if (!again) over_ = true;
    if (over_) return;
    const auto now = executor_->clock().now();
    due_ = deadline_after(due_, period_ * (now < due_ ? 1 : (now - due_) / period_ + 1));
    arm_locked();
  }

  const std::weak_ptr<ActorCell> target_;
  const std::shared_ptr<Executor> executor_;
  const std::chrono::nanoseconds period_;
  const std::function<bool(std::shared_ptr<ActorCell>)> send_;
  const ForkGuard fork_;
  Clock::time_point due_;
  std::mutex mutex_;
  Timer timer_;
  bool over_ = false;
};

SendTimer::SendTimer(const ActorAddress& to, std::chrono::nanoseconds first,
                     std::chrono::nanoseconds period,
                     std::function<bool(std::shared_ptr<ActorCell>)> send)
    : state_{std::make_shared<State>(to, period, std::move(send))} {
  state_->arm(first);
}

SendTimer& SendTimer::operator=(SendTimer&& other) noexcept {
  if (this != &other) {
    cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

bool SendTimer::cancel() noexcept { return state_ && std::exchange(state_, nullptr)->cancel(); }

}  // namespace stoker
