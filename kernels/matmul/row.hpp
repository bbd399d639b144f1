// A row times a matrix. Each element of the matrix is used once, so memory sets the pace: the loops
// only have to read it forward, whole vectors at a time.
#pragma once

#include "stoker/kernels/matmul/pack.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

/// to[i] = sum over t < k of x[t] · lines[i][t], for `count` lines `step` apart.
template <int count, class S>
inline void dots(const Compute<S>* x, const S* lines, std::int64_t step, std::int64_t k,
                 S* to) noexcept {
  using C = Compute<S>;
  using Vector = typename Simd<C>::Vector;
  using Unaligned = typename Simd<C>::Unaligned;
  constexpr std::int64_t lanes = Simd<C>::lanes;
  constexpr int chains = count == 1 ? 4 : 2;  // enough sums at a time to hide an addition's latency
  Vector sum[count][chains] = {};
  alignas(64) C buffer[chains * lanes];
  std::int64_t t = 0;
  for (; t + chains * lanes <= k; t += chains * lanes)
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) {
      const C* line = cpu::STOKER_ISA::loaded(lines + i * step + t, buffer, chains * lanes);
#pragma GCC unroll 4
      for (int c = 0; c < chains; ++c)
        sum[i][c] += *reinterpret_cast<const Unaligned*>(x + t + c * lanes) *
                     *reinterpret_cast<const Unaligned*>(line + c * lanes);
    }
  for (int i = 0; i < count; ++i) {
    for (int c = 1; c < chains; ++c) sum[i][0] += sum[i][c];
    C result{};
    for (std::int64_t lane = 0; lane < lanes; ++lane) result += sum[i][0][lane];
    const C* rest =
        cpu::STOKER_ISA::loaded(lines + i * step + t, buffer, static_cast<std::size_t>(k - t));
    for (std::int64_t j = 0; t + j < k; ++j) result += x[t + j] * rest[j];
    cpu::STOKER_ISA::store_block(static_cast<const C*>(&result), to + i, 1);
  }
}

/// Columns a slice handles at a time when the matrix lies row-major: their sums stay in the
/// first-level cache while the rows pass by.
inline constexpr std::int64_t row_columns = 1024;

/// Adds eight rows at a time to `sums`; returns how many rows that were. The next eight are asked for
/// meanwhile: rows lie too far apart for the processor to foresee them.
template <class C>
inline std::int64_t weighted_rows_by_8(const C* x, const C* matrix, std::int64_t step,
                                       std::int64_t k, std::int64_t columns, C* sums) noexcept {
  using Unaligned = typename Simd<C>::Unaligned;
  constexpr std::int64_t lanes = Simd<C>::lanes;
  std::int64_t t = 0;
  for (; t + 8 <= k; t += 8) {
    const C* row = matrix + t * step;
    std::int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      auto sum = *reinterpret_cast<const Unaligned*>(sums + j);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        __builtin_prefetch(row + (i + 8) * step + j);
        sum += x[t + i] * *reinterpret_cast<const Unaligned*>(row + i * step + j);
      }
      *reinterpret_cast<Unaligned*>(sums + j) = sum;
    }
    for (; j < columns; ++j)
      for (int i = 0; i < 8; ++i) sums[j] += x[t + i] * row[i * step + j];
  }
  return t;
}

/// to[j] = sum over t of x[t] · matrix[t][j] for j < columns ≤ row_columns.
template <class S>
inline void weighted_rows(const Compute<S>* x, const S* matrix, std::int64_t step, std::int64_t k,
                          std::int64_t columns, S* to) noexcept {
  using C = Compute<S>;
  alignas(64) C sums[row_columns];
  alignas(64) C buffer[row_columns];
  const auto count = static_cast<std::size_t>(columns);
  std::fill_n(sums, count, C{});
  std::int64_t t = 0;
  if constexpr (std::is_same_v<S, C>) t = weighted_rows_by_8(x, matrix, step, k, columns, sums);
  for (; t < k; ++t) {
    const C* row = cpu::STOKER_ISA::loaded(matrix + t * step, buffer, count);
    const C weight = x[t];
#pragma GCC ivdep
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += weight * row[j];
  }
  cpu::STOKER_ISA::store_block(static_cast<const C*>(sums), to, count);
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
