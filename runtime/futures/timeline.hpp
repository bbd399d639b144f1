// A timeline: a number that only rises, which others wait for. The host's mirror of what a queue
// has completed.
//
// Threads:   every function may be called from any thread. Waiters are told outside the lock, in
//            order of their values, by one thread at a time: an advance() that finds another
//            thread telling leaves its waiters to that thread.
// Errors:    fail() is sticky: points not reached by then fail with its Error, reached ones stay
//            good, and the value rises no more. In a child of the process it was made in, points that
//            were not reached fail with `forked_process`.
// Lifetime:  waiters left when a Timeline is destroyed are told `closed`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

/// Notified once, when its point is reached or never will be. Must live until then, or until
/// removed.
class TimelineWaiter {
 public:
  /// `failure` is null if the point was reached. Any thread; must be short; may destroy the waiter.
  virtual void reached(const Error* failure) noexcept = 0;

  std::uint64_t value = 0;  ///< the point; set it before add()

 protected:
  ~TimelineWaiter() = default;

 private:
  friend class Timeline;
  TimelineWaiter* previous_ = nullptr;
  TimelineWaiter* next_ = nullptr;
  bool listed_ = false;
};

class Timeline {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit Timeline(std::uint64_t value = 0) noexcept : value_(value) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool has_reached(std::uint64_t point) const noexcept { return value() >= point; }
  /// The failure, if there was one.
  [[nodiscard]] std::optional<Error> error() const;

  /// Raises the value; lower or equal values, and all values after a failure, change nothing.
  void advance(std::uint64_t value) noexcept;
  /// Fails every point that is not reached. Only the first failure counts.
  void fail(Error error) noexcept;

  /// Notifies the waiter when its value is reached, at once if it is reached already or if the
  /// timeline has failed. O(1) if no listed waiter waits for a higher value, else O(waiters above).
  void add(TimelineWaiter& waiter) noexcept;
  /// True: the waiter will not be notified. False: it was notified or is about to be.
  bool remove(TimelineWaiter& waiter) noexcept;

  /// Parks until the point is reached (true), the timeline fails or the deadline passes (false).
  [[nodiscard]] bool wait(std::uint64_t point, time_point deadline = time_point::max()) noexcept;
  /// A future of the point.
  [[nodiscard]] Future<void> reached(std::uint64_t point);

 private:
  void insert(TimelineWaiter& waiter) noexcept;
  void unlink(TimelineWaiter& waiter) noexcept;
  void tell(std::unique_lock<std::mutex> lock) noexcept;

  const ForkGuard fork_;
  std::atomic<std::uint64_t> value_;
  mutable std::mutex mutex_;         // in a child of fork(), a thread of the parent may hold it
  TimelineWaiter* first_ = nullptr;  // sorted by value, equal ones in order of arrival
  TimelineWaiter* last_ = nullptr;
  std::optional<Error> error_;
  bool telling_ = false;
};

}  // namespace stoker
