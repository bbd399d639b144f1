#include "stoker/runtime/base/process_mutex.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "stoker/runtime/base/fork_delay.hpp"

namespace stoker {
namespace {

/// Whether this thread's fork() has arrived (ForkDelays::arrive).
thread_local bool has_arrived = false;

/// A delay may wait for what a handler of a library that is just being loaded has locked for this fork.
constexpr std::chrono::seconds patience{10};

}  // namespace

/// All there are, newest first. Process-wide by nature, as fork() is.
struct ProcessMutexes {
  /// Holds nothing: it comes before handlers of the host, too, whose threads may wait for us with their locks.
  static void before_drivers() {
    if (has_arrived || ForkDelays::has_own()) return;
    has_arrived = true;
    ForkDelays::arrive(std::chrono::steady_clock::now() + patience);
  }

  static constinit std::atomic<ProcessMutex*> newest;
  static constinit ProcessMutex* locked;  ///< of whoever has them
  static const int handlers;              ///< of pthread_atfork: the first, there before main()

  static void before() {
    lock_all();
    if (std::exchange(has_arrived, false)) ForkDelays::leave();
  }
  static void in_parent() {
    if (!ForkDelays::has_own()) ForkDelays::forked();
    unlock_mutexes();
  }
  static void in_child() {
    unlock_mutexes();
    ForkDelays::forget_others();
  }

 private:
  static void lock_all() {
    // A driver may fork within its call, with locks that others in such calls wait for. Until this thread's
    // delay is over try_fork() fails for all others, so there is nothing to mark.
    if (ForkDelays::has_own()) return lock_mutexes();
    const auto end = std::chrono::steady_clock::now() + patience;
    while (ForkDelays::wait_for_none(end)) {
      lock_mutexes();
      // Whoever delays may wait for a mutex.
      if (ForkDelays::try_fork()) return;
      unlock_mutexes();
    }
    lock_mutexes();
  }
  /// Waits for one only while it holds none: whoever holds that may wait for another.
  static void lock_mutexes() {
    ProcessMutex* const first = newest.load(std::memory_order_acquire);
    for (ProcessMutex* awaited = first; awaited;) {
      awaited->mutex_.lock();
      ProcessMutex* const taken = first_taken(first, *awaited);
      if (!taken) break;
      for (ProcessMutex* one = first; one != taken; one = one->next_)
        if (one != awaited) one->mutex_.unlock();
      awaited->mutex_.unlock();
      awaited = taken;
    }
    locked = first;  // others may be made meanwhile
  }
  static void unlock_mutexes() {
    for (ProcessMutex *one = locked, *next = nullptr; one; one = next) {
      next = one->next_;
      one->mutex_.unlock();
    }
  }
  /// Locks all but the one that the caller holds, up to one that somebody else holds.
  static ProcessMutex* first_taken(ProcessMutex* first, const ProcessMutex& held) {
    while (first && (first == &held || first->mutex_.try_lock())) first = first->next_;
    return first;
  }
};

constinit std::atomic<ProcessMutex*> ProcessMutexes::newest{nullptr};
constinit ProcessMutex* ProcessMutexes::locked = nullptr;
const int ProcessMutexes::handlers = pthread_atfork(before, in_parent, in_child);

void ForkDelays::come_first() noexcept {
  static_cast<void>(pthread_atfork(ProcessMutexes::before_drivers, nullptr, nullptr));
}

ProcessMutex::ProcessMutex() noexcept {
  next_ = ProcessMutexes::newest.load(std::memory_order_relaxed);
  while (!ProcessMutexes::newest.compare_exchange_weak(next_, this, std::memory_order_release,
                                                       std::memory_order_relaxed)) {
  }
}

}  // namespace stoker
