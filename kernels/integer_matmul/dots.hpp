// Inner products of 16-bit integers, exact: what our own loops make of 8-bit ones from which zero points are subtracted.
// Compilers know a loop of this form as an instruction that adds pairs of products.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stoker::kernels::integer_matmul::STOKER_ISA {

/// sums[i] += sum over t < n of x[t] · lines[i · step + t] for `Count` lines; wraps. Elements lie within ±255.
template <int Count>
inline void add_dots(const std::int16_t* x, const std::int16_t* lines, std::int64_t step,
                     std::int64_t n, std::uint32_t* sums) noexcept {
  constexpr std::int64_t exact = 16384;  // products that 31 bits hold
  for (std::int64_t t0 = 0; t0 < n; t0 += exact) {
    const std::int64_t t1 = std::min(n, t0 + exact);
    std::int32_t part[Count] = {};
    for (std::int64_t t = t0; t < t1; ++t)
      for (int i = 0; i < Count; ++i) part[i] += x[t] * lines[i * step + t];
    for (int i = 0; i < Count; ++i) sums[i] += static_cast<std::uint32_t>(part[i]);
  }
}

/// The same for any number of lines.
inline void add_dots(const std::int16_t* x, const std::int16_t* lines, std::int64_t step,
                     std::int64_t n, std::int64_t count, std::uint32_t* sums) noexcept {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) add_dots<4>(x, lines + i * step, step, n, sums + i);
  for (; i < count; ++i) add_dots<1>(x, lines + i * step, step, n, sums + i);
}

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
