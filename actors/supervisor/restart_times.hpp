// When a supervisor's children were started again, in as much memory as a period of any length needs.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

/// Counts the restarts of the last `period`. Exact up to 1024 of them. Beyond, restarts that lie closer
/// together than a 512th of the period are counted as of the last of them, so that a supervisor that may
/// restart without end holds a bounded list. Threads: the owner's.
class RestartTimes {
 public:
  explicit RestartTimes(std::chrono::nanoseconds period) noexcept : period_{period} {}

  /// `now` is not before any earlier one's.
  void add(Clock::time_point now);
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// How many times are held; at most 2048.
  [[nodiscard]] std::size_t held() const noexcept { return groups_.size(); }

 private:
  struct Group {
    Clock::time_point first;
    Clock::time_point last;
    std::size_t count;
  };

  std::chrono::nanoseconds period_;
  std::deque<Group> groups_;
  std::size_t count_ = 0;
};

}  // namespace stoker
