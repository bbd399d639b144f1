// Inner products of 16-bit integers, exact: what our own loops make of 8-bit ones from which zero points are
// subtracted. Compilers know a loop of this form as an instruction that adds pairs of products.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stoker::kernels::integer_matmul::STOKER_ISA {

inline constexpr std::int64_t exact = 16384;  // products whose sum 31 bits hold

/// sums[i] += sum over t < n of x[t] · lines[i · step + t] for four lines; wraps. Elements lie within ±255.
inline void add_four_dots(const std::int16_t* x, const std::int16_t* lines, std::int64_t step,
                          std::int64_t n, std::uint32_t* sums) noexcept {
  for (std::int64_t t0 = 0; t0 < n; t0 += exact) {
    const std::int64_t t1 = std::min(n, t0 + exact);
    const std::int16_t *const a = lines, *const b = a + step, *const c = b + step,
                              *const d = c + step;
    std::int32_t of_a = 0, of_b = 0, of_c = 0, of_d = 0;
    for (std::int64_t t = t0; t < t1; ++t) {
      of_a += x[t] * a[t];
      of_b += x[t] * b[t];
      of_c += x[t] * c[t];
      of_d += x[t] * d[t];
    }
    sums[0] += static_cast<std::uint32_t>(of_a);
    sums[1] += static_cast<std::uint32_t>(of_b);
    sums[2] += static_cast<std::uint32_t>(of_c);
    sums[3] += static_cast<std::uint32_t>(of_d);
  }
}

/// The same for `count` lines.
inline void add_dots(const std::int16_t* x, const std::int16_t* lines, std::int64_t step,
                     std::int64_t n, std::int64_t count, std::uint32_t* sums) noexcept {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) add_four_dots(x, lines + i * step, step, n, sums + i);
  for (; i < count; ++i)
    for (std::int64_t t0 = 0; t0 < n; t0 += exact) {
      std::int32_t part = 0;
      for (std::int64_t t = t0; t < std::min(n, t0 + exact); ++t)
        part += x[t] * lines[i * step + t];
      sums[i] += static_cast<std::uint32_t>(part);
    }
}

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
