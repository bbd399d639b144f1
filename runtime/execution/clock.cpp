#include "stoker/runtime/execution/clock.hpp"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

struct SystemClock::Impl {
  void look_again() noexcept {
    {
      const std::lock_guard lock{mutex};
      changed = true;
    }
    wake.notify_one();
  }
  void run() noexcept {
    std::unique_lock lock{mutex};
    while (!stopped) {
      changed = false;
      lock.unlock();
      while (queue.expire_one(std::chrono::steady_clock::now())) {
      }
      const time_point due = queue.next_due();
      lock.lock();
      const auto awake = [this] { return changed || stopped; };
      if (due == time_point::max())
        wake.wait(lock, awake);
      else
        wake.wait_until(lock, due, awake);
    }
  }

  TimerQueue queue;
  std::mutex mutex;
  std::condition_variable wake;
  bool changed = false;
  bool stopped = false;
  ForkGuard fork_guard;
  std::thread thread;
};

SystemClock::SystemClock() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread{[impl = impl_.get()] { impl->run(); }};
  pthread_setname_np(impl_->thread.native_handle(), "stoker/clock");
}

SystemClock::~SystemClock() {
  if (impl_->fork_guard.forked()) {
    // The thread is the parent's; waiting for it, or destroying what it sleeps on, would hang.
    static_cast<void>(impl_.release());
    return;
  }
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopped = true;
  }
  impl_->wake.notify_one();
  impl_->thread.join();
}

void SystemClock::arm(TimerNode& node, time_point due) noexcept {
  if (impl_->fork_guard.forked()) return;  // a thread of the parent may hold the locks
  if (impl_->queue.arm(node, due)) impl_->look_again();
}

bool SystemClock::disarm(TimerNode& node) noexcept {
  return impl_->fork_guard.forked() || impl_->queue.disarm(node);
}

Clock::time_point ManualClock::now() const noexcept {
  return time_point{duration{now_.load(std::memory_order_acquire)}};
}

void ManualClock::arm(TimerNode& node, time_point due) noexcept { queue_.arm(node, due); }
bool ManualClock::disarm(TimerNode& node) noexcept { return queue_.disarm(node); }

std::size_t ManualClock::advance(duration by) noexcept {
  const time_point target = deadline_after(now(), by);
  std::size_t expired = 0;
  // Each timer sees its own due time as now(), unless it was due in the past already.
  for (time_point due = queue_.next_due(); due <= target; due = queue_.next_due()) {
    if (due > now()) now_.store(due.time_since_epoch().count(), std::memory_order_release);
    if (!queue_.expire_one(target)) break;
    ++expired;
  }
  now_.store(target.time_since_epoch().count(), std::memory_order_release);
  return expired;
}

/// Keeps itself alive (`self_`) while armed or posted.
///
///     waiting ──(its time, on the executor)──▶ over
///        └──(cancel)──▶ cancelling ──▶ over
///
/// With the executor's last share the clock may go. So whoever of the two comes to `over` last lets go
/// of it: a task that runs while cancel() is at the clock leaves that to cancel().
class Timer::State final : private TimerNode, private Task {
 public:
  State(Clock& clock, Executor& executor, std::function<void()> function)
      : clock_(&clock), executor_(executor.keep()), function_(std::move(function)) {}

  void start(Clock::time_point due, std::shared_ptr<State> self) noexcept {
    self_ = std::move(self);
    clock_->arm(*this, due);
  }
  bool cancel() noexcept {
    Phase waiting = Phase::waiting;
    if (!phase_.compare_exchange_strong(waiting, Phase::cancelling)) return false;
    // A node that has expired is on its way through the executor and finds the phase changed.
    const bool disarmed = clock_->disarm(*this);
    const bool task_was_there = phase_.exchange(Phase::over) == Phase::over;
    if (disarmed || task_was_there) release();
    return true;
  }

 private:
  enum class Phase { waiting, cancelling, over };

  void expired() noexcept override { executor_->post(static_cast<Task&>(*this)); }
  void run() noexcept override {
    const std::shared_ptr<State> self = std::move(self_);
    const Phase before = end_of_task();
    if (before == Phase::cancelling) return;
    if (before == Phase::waiting) {
      try {
        function_();
      } catch (...) {
        detail::log_escaped_exception("timer");
      }
    }
    function_ = nullptr;
    executor_.reset();
  }
  void drop() noexcept override {
    const std::shared_ptr<State> self = std::move(self_);
    if (end_of_task() != Phase::cancelling) release();
  }
  /// The phase before.
  Phase end_of_task() noexcept {
    Phase before = Phase::waiting;
    if (!phase_.compare_exchange_strong(before, Phase::over) && before == Phase::cancelling)
      before = phase_.exchange(Phase::over);
    return before;
  }
  void release() noexcept {
    const std::shared_ptr<State> self = std::move(self_);
    executor_.reset();
    function_ = nullptr;
  }

  Clock* clock_;
  std::shared_ptr<Executor> executor_;
  std::function<void()> function_;
  std::atomic<Phase> phase_{Phase::waiting};
  std::shared_ptr<State> self_;
};

Timer::Timer(Clock& clock, Clock::time_point due, Executor& executor,
             std::function<void()> function)
    : state_(std::make_shared<State>(clock, executor, std::move(function))) {
  state_->start(due, state_);
}

Timer::~Timer() { cancel(); }

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

bool Timer::cancel() noexcept {
  const std::shared_ptr<State> state = std::move(state_);
  return state != nullptr && state->cancel();
}

}  // namespace stoker
