// Exchanges of two values that sort few of them or find the one in the middle, as lists that are made
// when Stoker is compiled.
//
// The values of a window of n × n are first sorted down each column and then along each row, which leaves
// the columns sorted. Then entry (i, j) has (i + 1)(j + 1) − 1 others that are not above it and
// (n − i)(n − j) − 1 that are not below it. Where one of these is more than half of the window, the entry
// is not in the middle. The middle of the others is the middle of all, since as many drop out on
// either side. For n = 3 this is J. L. Smith's network (Implementing Median Filters in XC4000E FPGAs, 1996).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stoker::kernels::median {

/// The smaller value goes to place `low`, the larger one to place `high`.
struct Exchange {
  std::uint8_t low = 0;
  std::uint8_t high = 0;
};

/// Sorts n values: D. E. Knuth, The Art of Computer Programming 3 (1998), 5.3.4.
template <std::size_t N> inline constexpr std::array<Exchange, 0> sorting{};
template <>
inline constexpr std::array<Exchange, 3> sorting<3>{Exchange{0, 1}, Exchange{1, 2}, Exchange{0, 1}};
template <>
inline constexpr std::array<Exchange, 9> sorting<5>{Exchange{0, 3}, Exchange{1, 4}, Exchange{0, 2},
                                                    Exchange{1, 3}, Exchange{0, 1}, Exchange{2, 4},
                                                    Exchange{1, 2}, Exchange{3, 4}, Exchange{2, 3}};
template <>
inline constexpr std::array<Exchange, 16> sorting<7>{
    Exchange{0, 6}, Exchange{2, 3}, Exchange{4, 5}, Exchange{0, 2}, Exchange{1, 4}, Exchange{3, 6},
    Exchange{0, 1}, Exchange{2, 5}, Exchange{3, 4}, Exchange{1, 2}, Exchange{4, 6}, Exchange{2, 3},
    Exchange{4, 5}, Exchange{1, 2}, Exchange{3, 4}, Exchange{5, 6}};

/// Whether entry (i, j) of a window of n × n whose rows and columns are sorted may be in the middle.
[[nodiscard]] constexpr bool may_be_middle(std::size_t n, std::size_t i, std::size_t j) noexcept {
  const std::size_t most = n * n / 2 + 1;
  return (i + 1) * (j + 1) <= most && (n - i) * (n - j) <= most;
}
/// How many of the entries before row i, or before entry (i, j), may be in the middle.
[[nodiscard]] constexpr std::size_t candidates(std::size_t n, std::size_t i,
                                               std::size_t j = 0) noexcept {
  std::size_t count = 0;
  for (std::size_t k = 0; k < i * n + j; ++k) count += may_be_middle(n, k / n, k % n) ? 1 : 0;
  return count;
}

/// How many exchanges select_middle() makes of m values.
[[nodiscard]] constexpr std::size_t exchanges_to_select(std::size_t m) noexcept {
  std::size_t count = 0;
  for (std::size_t live = m / 2 + 2; live >= 3; --live)
    count += live / 2 + (live + 1) / 2 - 1 + (live - 1 - live / 2);
  return count;
}

/// Leaves the middle of M values, M odd, in place 1. Of M / 2 + 2 values neither the least nor the most
/// is in the middle: both drop out, and a value that was not looked at comes in place of the least,
/// until three are left.
template <std::size_t M> [[nodiscard]] constexpr auto select_middle() noexcept {
  std::array<Exchange, exchanges_to_select(M)> list{};
  std::size_t made = 0;
  std::size_t first = 0;  // the place of the value that came last; the others are 1 … live − 1
  const auto exchange = [&](std::size_t low, std::size_t high) {
    const auto place = [&](std::size_t i) { return static_cast<std::uint8_t>(i == 0 ? first : i); };
    list[made++] = {place(low), place(high)};
  };
  for (std::size_t live = M / 2 + 2, next = live; live >= 3; --live) {
    for (std::size_t i = 0; i < live / 2; ++i) exchange(i, live - 1 - i);
    for (std::size_t i = 1; i < (live + 1) / 2; ++i) exchange(0, i);
    for (std::size_t i = live / 2; i + 1 < live; ++i) exchange(i, live - 1);
    first = next++;
  }
  return list;
}

}  // namespace stoker::kernels::median
