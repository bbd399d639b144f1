// How long many requests took: their number, the sum of their times, and how many lie between fixed bounds.
//
// The first bound is 8 µs, each other one is twice the one before, the last one is 33.6 s. A time that is a bound is
// counted below it.
//
// A value. Threads: as values. add() allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stoker {

class TimeHistogram {
 public:
  static constexpr std::size_t bounds = 23;

  /// The bound of the counter of that index, which is less than `bounds`.
  [[nodiscard]] static constexpr std::chrono::nanoseconds bound(std::size_t index) noexcept {
    return std::chrono::microseconds{std::int64_t{1} << (first_bit + index)};
  }

  /// A time below 0 counts as 0.
  void add(std::chrono::nanoseconds time) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    const std::uint64_t below_us = ns == 0 ? 0 : (ns - 1) / 1000;
    const auto bits = static_cast<std::size_t>(std::bit_width(below_us));
    ++counts_[std::min(bits > first_bit ? bits - first_bit : 0, bounds)];
    ++count_;
    total_ns_ += ns;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::chrono::nanoseconds total() const noexcept {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(total_ns_)};
  }
  /// How many are at most the bound of that index and above the one before. The last counter has the rest.
  [[nodiscard]] const std::array<std::uint64_t, bounds + 1>& counts() const noexcept {
    return counts_;
  }
  /// The bound below which the share `q` (0 to 1) of all lies; the largest one if it is beyond all. 0 without times.
  [[nodiscard]] std::chrono::nanoseconds quantile(double q) const noexcept {
    if (count_ == 0) return {};
    const double wanted = q * static_cast<double>(count_);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bounds; ++i) {
      below += counts_[i];
      if (below > 0 && static_cast<double>(below) >= wanted) return bound(i);
    }
    return bound(bounds - 1);
  }

 private:
  static constexpr std::size_t first_bit = 3;

  std::array<std::uint64_t, bounds + 1> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t total_ns_ = 0;
};

/// Of requests that got a result. A request that was split counts once, with its parts added up.
struct ServingTimes {
  TimeHistogram request = {};        ///< from its arrival to its result
  TimeHistogram queue = {};          ///< until its first row ran
  TimeHistogram compute_input = {};  ///< joining its rows with those of others
  TimeHistogram compute_infer =
      {};  ///< the model, with the way of the results to the host if they are cut
  TimeHistogram compute_output = {};  ///< cutting the results
};

/// Of the batches of one size that gave results.
struct ServingBatchTimes {
  std::uint64_t count = 0;
  std::chrono::nanoseconds compute_input = {};
  std::chrono::nanoseconds compute_infer = {};
  std::chrono::nanoseconds compute_output = {};
};

}  // namespace stoker
