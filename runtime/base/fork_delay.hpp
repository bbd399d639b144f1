// A call that fork() must not interrupt: it holds locks of another library that a child would find locked
// for ever. Loading a driver is one: the C library's list of loaded files (dl_iterate_phdr) stays locked.
//
// Unlike a ProcessMutex, any number of threads may be in such calls at once.
//
// Threads: any. It is destroyed by the thread that made it. That thread may fork meanwhile, as drivers do
// that run a helper program. Such a fork waits for no delay: another thread within one may wait for a lock that
// the forking one holds.
//
// While a fork waits for delays, a new one begins up to half a second later, so that calls which follow each
// other without a gap let it through. It is not held back for longer: a delay that the fork waits for may wait
// for its thread.
//
// Drivers have handlers of fork() of their own (pthread_atfork), which take locks that calls within a delay
// wait for: NVIDIA's does. So a fork waits before those handlers run (come_first). Only while such a driver is
// loaded for the first time it cannot: it then goes on after 10 s, and its child should only run a program.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace stoker {

/// While this lives, a fork() by another thread waits. Made during such a fork, it waits until that is over.
class ForkDelay {
 public:
  ForkDelay() noexcept;
  ~ForkDelay();
  ForkDelay(const ForkDelay&) = delete;
  ForkDelay& operator=(const ForkDelay&) = delete;
};

/// All there are, for the handlers of fork() (process_mutex.cpp).
class ForkDelays {
 public:
  /// Whether the calling thread is in one.
  [[nodiscard]] static bool has_own() noexcept;
  /// From now on a fork waits for delays before it runs the handlers that libraries have added so far. Each
  /// call adds handlers for good: for a place that is reached once. Not within a delay.
  static void come_first() noexcept;
  /// True when nobody delays a fork; somebody may again by then. False at `end`. New delays give way from
  /// here on, until try_fork() or false.
  [[nodiscard]] static bool wait_for_none(std::chrono::steady_clock::time_point end) noexcept;
  /// False if somebody delays forks. If true, new delays wait for forked().
  [[nodiscard]] static bool try_fork() noexcept;
  static void forked() noexcept;
  /// In the child, which has no thread but this.
  static void forget_others() noexcept;

 private:
  friend class ForkDelay;
  static void begin() noexcept;
  static void end() noexcept;
  static void give_way() noexcept;

  static constexpr std::uint32_t forking = 1U << 31;
  static constexpr std::uint32_t waiting = 1U << 30;  ///< a fork waits for the delays there are
  static constexpr std::uint32_t locking =
      1U << 29;  ///< it waits for mutexes, which new delays may hold
  static constinit std::atomic<std::uint32_t>
      state;  ///< how many threads delay, and the three above
};

}  // namespace stoker
