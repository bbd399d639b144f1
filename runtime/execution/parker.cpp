#include "stoker/runtime/execution/parker.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"

namespace stoker {
namespace {

class ThreadBlocker;

/// What DeferredWakes holds on this thread.
struct Held {
  int scopes = 0;
  ThreadBlocker* first = nullptr;
};
thread_local Held this_thread_held;

// Processes wake on other threads.
STOKER_THREAD_LOCAL_ACCESS Held& held() noexcept { return this_thread_held; }

/// Blocks a plain thread. One per thread, so that an unpark never touches memory of a waiter that
/// has gone on: what it signals lives as long as the thread.
class ThreadBlocker final : public Resumable {
 public:
  void block(Parker& parker, const Parker::time_point* deadline) noexcept {
    detail::flush_deferred();
    DeferredWakes::flush();
    parker.bind(*this);
    if (!parker.commit()) return;
    std::unique_lock lock{mutex_};
    if (deadline != nullptr && !wake_.wait_until(lock, *deadline, [this] { return resumed_; })) {
      lock.unlock();
      if (parker.time_out()) return;
      lock.lock();
    }
    wake_.wait(lock, [this] { return resumed_; });
    resumed_ = false;
  }
  /// Its thread waits for that, or for this, so it may be held.
  void resume() noexcept override {
    Held& here = held();
    if (here.scopes == 0) return wake();
    next_held_ = here.first;
    here.first = this;
  }
  void wake() noexcept {
    const std::lock_guard lock{mutex_};
    resumed_ = true;
    wake_.notify_one();
  }
  /// The one that was held before it; to be asked before wake().
  [[nodiscard]] ThreadBlocker* next_held() const noexcept { return next_held_; }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool resumed_ = false;
  ThreadBlocker* next_held_ = nullptr;
};

thread_local BlockingContext* current_context = nullptr;
thread_local ThreadBlocker this_thread_blocker;

class ParkTimer final : public TimerNode {
 public:
  explicit ParkTimer(Parker& parker) noexcept : parker_(&parker) {}
  void expired() noexcept override {
    if (parker_->time_out()) parker_->resume();
  }

 private:
  Parker* parker_;
};

}  // namespace

DeferredWakes::DeferredWakes() noexcept { ++held().scopes; }

DeferredWakes::~DeferredWakes() {
  if (--held().scopes == 0) flush();
}

void DeferredWakes::flush() noexcept {
  ThreadBlocker* next = std::exchange(held().first, nullptr);
  while (next) std::exchange(next, next->next_held())->wake();
}

STOKER_THREAD_LOCAL_ACCESS BlockingContext* blocking_context() noexcept { return current_context; }

STOKER_THREAD_LOCAL_ACCESS BlockingContext* set_blocking_context(
    BlockingContext* context) noexcept {
  BlockingContext* before = current_context;
  current_context = context;
  return before;
}

STOKER_THREAD_LOCAL_ACCESS static ThreadBlocker& thread_blocker() noexcept {
  return this_thread_blocker;
}

Interruptible::Interruptible(Parker& parker) noexcept {
  BlockingContext* context = blocking_context();
  allowed_ = context == nullptr || context->interruptible(&parker);
}

Interruptible::~Interruptible() {
  if (BlockingContext* context = blocking_context())
    static_cast<void>(context->interruptible(nullptr));
}

bool Parker::take() noexcept { return state_.exchange(empty, std::memory_order_acquire) == permit; }

bool Parker::commit() noexcept {
  std::uint32_t expected = empty;
  return state_.compare_exchange_strong(expected, parked, std::memory_order_acq_rel);
}

bool Parker::time_out() noexcept {
  std::uint32_t state = state_.load(std::memory_order_acquire);
  while (state == empty || state == parked) {
    if (state_.compare_exchange_weak(state, timed_out, std::memory_order_acq_rel))
      return state == parked;
  }
  return false;
}

// After the exchange the parker may be gone, unless its context was parked: then only this call can
// resume it.
void Parker::unpark() noexcept {
  if (state_.exchange(permit, std::memory_order_acq_rel) == parked) resumable_->resume();
}

void Parker::block(const time_point* deadline) noexcept {
  if (BlockingContext* context = blocking_context())
    context->block(*this, deadline);
  else
    thread_blocker().block(*this, deadline);
}

void Parker::park() noexcept {
  while (!take()) block(nullptr);
}

bool Parker::park_until(time_point deadline) noexcept {
  if (deadline == time_point::max()) return park(), true;
  if (BlockingContext* context = blocking_context())
    if (Clock* clock = context->clock()) return park_until(*clock, deadline);
  if (take()) return true;
  block(&deadline);
  return take();
}

bool Parker::park_until(Clock& clock, time_point deadline) noexcept {
  if (deadline == time_point::max()) return park(), true;
  if (take()) return true;
  if (deadline <= clock.now()) return false;
  ParkTimer timer{*this};
  clock.arm(timer, deadline);
  block(nullptr);
  clock.disarm(timer);
  return take();
}

}  // namespace stoker
