#include "stoker/runtime/futures/future_core.hpp"

#include <thread>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/parker.hpp"
#include "stoker/runtime/futures/thread_waits.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

std::uintptr_t as_head(Waiter* waiter) noexcept { return reinterpret_cast<std::uintptr_t>(waiter); }
Waiter* as_waiter(std::uintptr_t head) noexcept { return reinterpret_cast<Waiter*>(head); }

/// Parks the current context until the future wakes it.
class ParkedWaiter final : public Waiter {
 public:
  void wake() noexcept override { parker_.unpark(); }
  [[nodiscard]] Parker& parker() noexcept { return parker_; }

 private:
  Parker parker_;
};

/// Waits with `park(parker)`, which returns false on time-out.
template <class Park> bool wait_with(FutureCore& core, Park park) noexcept {
  ParkedWaiter waiter;
  core.add(waiter);
  if (park(waiter.parker())) return true;
  if (core.remove(waiter)) return false;
  waiter.parker().park();  // it is being woken: wait for that, the waiter lies on this stack
  return true;
}

}  // namespace

std::uintptr_t FutureCore::unlocked_head() const noexcept {
  std::uintptr_t head = head_.load(std::memory_order_acquire);
  while ((head & locked) != 0) {
    std::this_thread::yield();  // another thread is in remove(), for a few loads
    head = head_.load(std::memory_order_acquire);
  }
  return head;
}

void FutureCore::add(Waiter& waiter) noexcept {
  if (ready()) return waiter.wake();
  std::uintptr_t head = unlocked_head();
  while (head != closed) {
    waiter.next = as_waiter(head);
    if (head_.compare_exchange_weak(head, as_head(&waiter), std::memory_order_release,
                                    std::memory_order_acquire))
      return;
    if ((head & locked) != 0) head = unlocked_head();
  }
  waiter.wake();
}

bool FutureCore::remove(Waiter& waiter) noexcept {
  if (ready()) return false;
  std::uintptr_t head = unlocked_head();
  for (;;) {
    if (head == closed) return false;
    if (head_.compare_exchange_weak(head, head | locked, std::memory_order_acquire,
                                    std::memory_order_acquire))
      break;
    if ((head & locked) != 0) head = unlocked_head();
  }
  bool found = false;
  Waiter* first = as_waiter(head);
  for (Waiter** link = &first; *link != nullptr; link = &(*link)->next) {
    if (*link != &waiter) continue;
    *link = waiter.next;
    found = true;
    break;
  }
  head_.store(as_head(first), std::memory_order_release);
  return found;
}

void FutureCore::publish() noexcept {
  std::uintptr_t head = unlocked_head();
  while (!head_.compare_exchange_weak(head, closed, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
    if ((head & locked) != 0) head = unlocked_head();
  // From here on another thread may drop the last handle: only the detached list is touched.
  Waiter* oldest = nullptr;
  for (Waiter* waiter = as_waiter(head); waiter != nullptr;) {
    Waiter* following = waiter->next;
    waiter->next = oldest;
    oldest = waiter;
    waiter = following;
  }
  while (oldest != nullptr) {
    Waiter* following = oldest->next;  // wake() may destroy the waiter
    oldest->wake();
    oldest = following;
  }
}

bool FutureCore::end_by_fork() noexcept {
  const std::uint16_t here = unclaimed_here();
  std::uint16_t claim = claim_.load(std::memory_order_acquire);
  // One thread of this child takes the future from whatever the parent's threads had begun. Nobody
  // is woken: those who waited are threads of the parent.
  if ((claim & ~claimed) != here &&
      claim_.compare_exchange_strong(claim, here | claimed, std::memory_order_acq_rel)) {
    disown();
    head_.store(closed, std::memory_order_release);
  } else {
    while (!published()) std::this_thread::yield();
  }
  return true;
}

void FutureCore::wait() noexcept {
  note_wait_of_this_thread();
  if (ready()) return;
  if (blocks_thread()) {
    assist(time_point::max());
    if (ready()) return;
  }
  wait_with(*this, [](Parker& parker) {
    parker.park();
    return true;
  });
}

bool FutureCore::wait_until(time_point deadline) noexcept {
  note_wait_of_this_thread();
  if (ready()) return true;
  if (blocks_thread()) {
    assist(deadline);
    if (ready()) return true;
  }
  return wait_with(*this, [&](Parker& parker) { return parker.park_until(deadline); });
}

bool FutureCore::wait_until(Clock& clock, time_point deadline) noexcept {
  if (ready()) return true;
  return wait_with(*this, [&](Parker& parker) { return parker.park_until(clock, deadline); });
}

bool FutureCore::wait_for(std::chrono::steady_clock::duration limit) noexcept {
  BlockingContext* context = blocking_context();
  Clock* clock = context ? context->clock() : nullptr;
  const time_point now = clock ? clock->now() : std::chrono::steady_clock::now();
  return wait_until(deadline_after(now, limit));
}

void FutureCore::last_release() const noexcept {
  if (published() && !observed_.load(std::memory_order_relaxed)) {
    if (const std::optional<Error> error = failure();
        error && error->code() != ErrorCode::cancelled && error->code() != ErrorCode::closed)
      log_failure(LogLevel::warn, "nobody looked at a failure", *error);
  }
  destroy();
}

namespace detail {

Error forked_while_waiting() noexcept {
  return error_or_out_of_memory([] {
    return Error{"wait", ErrorCode::forked_process,
                 "the work belongs to the parent: it was submitted before fork()"};
  });
}

Error broken_promise(const char* op) noexcept {
  return error_or_out_of_memory([&] {
    return Error{op, ErrorCode::closed, "broken promise: the producer went away without a result"};
  });
}

}  // namespace detail
}  // namespace stoker
