#include "stoker/runtime/base/process_mutex.hpp"

#include <pthread.h>

#include <atomic>

#include "stoker/runtime/base/fork_delay.hpp"

namespace stoker {

/// All there are, newest first. Process-wide by nature, as fork() is.
struct ProcessMutexes {
  static void lock_all() {
    // A driver may fork within its call, with locks that others in such calls wait for. Until this thread's
    // delay is over try_fork() fails for all others, so there is nothing to mark.
    if (ForkDelays::has_own()) return lock_mutexes();
    for (;;) {
      ForkDelays::wait_for_none();
      lock_mutexes();
      // Whoever delays may wait for a mutex.
      if (ForkDelays::try_fork()) return;
      unlock_mutexes();
    }
  }
  static void in_parent() {
    unlock_mutexes();
    if (!ForkDelays::has_own()) ForkDelays::forked();
  }
  static void in_child() {
    unlock_mutexes();
    ForkDelays::forget_others();
  }

  static constinit std::atomic<ProcessMutex*> newest;
  static constinit ProcessMutex* locked;  ///< of whoever has them
  static const int handler;               ///< of pthread_atfork

 private:
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
const int ProcessMutexes::handler = pthread_atfork(lock_all, in_parent, in_child);

ProcessMutex::ProcessMutex() noexcept {
  next_ = ProcessMutexes::newest.load(std::memory_order_relaxed);
  while (!ProcessMutexes::newest.compare_exchange_weak(next_, this, std::memory_order_release,
                                                       std::memory_order_relaxed)) {
  }
}

}  // namespace stoker
