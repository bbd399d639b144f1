// A call that fork() must not interrupt: it holds locks of another library that a child would find locked
// for ever. Loading a driver is one: the C library's list of loaded files (dl_iterate_phdr) stays locked.
//
// Unlike a ProcessMutex, any number of threads may be in such calls at once.
//
// Threads: any. It is destroyed by the thread that made it. That thread may fork meanwhile, as drivers do
// that run a helper program. Such a fork waits for no delay: another thread within one may wait for a lock that
// the forking one holds.
//
// While a fork waits for delays, new ones begin later, so that calls which follow each other without a gap let it
// through. A thread gives half a second to each fork: a delay that the fork waits for may wait for that thread, and
// the fork itself may wait for a lock that the thread holds. After that the thread gives way only in every second
// turn of eight milliseconds. Turns are the same for all threads: in one the fork finds no delay, in the other a lock
// that is taken again and again becomes free often enough for the fork to get it.
//
// Drivers have handlers of fork() of their own (pthread_atfork), which take locks that calls within a delay
// wait for: NVIDIA's does. So a fork arrives before those handlers run: it waits until nobody delays it and holds
// nothing meanwhile. Its last handler, which runs behind those of the host, takes the mutexes and decides. If a
// delay began between the two, it waits for 10 s; then the fork goes on, and its child should only run a program.
// So while a driver is loaded for the first time, and if the handlers between take more than half a second.
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
  /// From now on a fork arrives before it runs the handlers that libraries have added so far. Each call adds a
  /// handler for good: for when a library was loaded that stays.
  static void come_first() noexcept;
  /// True when nobody delays a fork; somebody may again by then. False at `end`. New delays give way from
  /// here on, until try_fork() or false.
  [[nodiscard]] static bool wait_for_none(std::chrono::steady_clock::time_point end) noexcept;
  /// False if somebody delays forks. If true, new delays wait for forked().
  [[nodiscard]] static bool try_fork() noexcept;
  /// Returns when nobody delays a fork, or at `end`. New delays give way until leave().
  static void arrive(std::chrono::steady_clock::time_point end) noexcept;
  static void leave() noexcept;
  static void forked() noexcept;
  /// In the child, which has no thread but this.
  static void forget_others() noexcept;

 private:
  friend class ForkDelay;
  static void begin() noexcept;
  static void end() noexcept;
  /// Whether a new delay of the calling thread gives way for one more millisecond.
  [[nodiscard]] static bool gives_way(std::uint32_t seen) noexcept;

  static constexpr std::uint32_t forking = 1U << 31;
  static constexpr std::uint32_t waiting = 1U << 30;  ///< a fork waits for the delays there are
  /// It waits for mutexes, which new delays may hold.
  static constexpr std::uint32_t locking = 1U << 29;
  static constexpr std::uint32_t one_arrived = 1U << 20;
  static constexpr std::uint32_t arrived = locking - one_arrived;
  static constexpr std::uint32_t delaying = one_arrived - 1;
  /// How many threads delay, how many forks have arrived, and which of the first three marks are set.
  static constinit std::atomic<std::uint32_t> state;
  /// How many forks are over.
  static constinit std::atomic<std::uint32_t> forks;
};

}  // namespace stoker
