// A row times a matrix. Each element of the matrix is used once, so memory sets the pace: the loops
// only have to read it forward, whole vectors at a time.
#pragma once

#include "stoker/kernels/matmul/pack.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

/// Products that are added to one sum, one after the other: as many roundings lie on each other.
inline constexpr std::int64_t chain_length = 256;

/// Sums of `Count` chains at a time, kept in two levels so that the roundings of long sums do not lie on each
/// other either.
template <class V, std::int64_t Count> class Pyramid {
 public:
  template <class Chain> void add(const Chain& chain, std::int64_t n) noexcept {
    for (std::int64_t i = 0; i < n; ++i) low_[i] += chain(i);
    if (++chains_ % chain_length != 0) return;
    for (std::int64_t i = 0; i < n; ++i) {
      high_[i] += low_[i];
      low_[i] = V{};
    }
  }
  [[nodiscard]] V sum(std::int64_t i) const noexcept { return high_[i] + low_[i]; }

 private:
  V low_[Count] = {};
  V high_[Count] = {};
  std::int64_t chains_ = 0;
};

/// to[i] = sum over t < k of x[t] · lines[i][t], for `count` lines `step` apart.
template <int count, class S>
inline void dots(const Compute<S>* x, const S* lines, std::int64_t step, std::int64_t k,
                 S* to) noexcept {
  using C = Compute<S>;
  using Vector = typename Simd<C>::Vector;
  using Unaligned = typename Simd<C>::Unaligned;
  constexpr std::int64_t lanes = Simd<C>::lanes;
  constexpr int chains = count == 1 ? 4 : 2;  // enough sums at a time to hide an addition's latency
  alignas(64) C buffer[chains * lanes];
  std::int64_t t = 0;
  Pyramid<Vector, count> whole;
  while (t + chains * lanes <= k) {
    Vector sum[count][chains] = {};
    const std::int64_t end = std::min(k, t + chain_length * chains * lanes);
    for (; t + chains * lanes <= end; t += chains * lanes)
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i) {
        const C* line = cpu::STOKER_ISA::loaded(lines + i * step + t, buffer, chains * lanes);
#pragma GCC unroll 4
        for (int c = 0; c < chains; ++c)
          sum[i][c] += *reinterpret_cast<const Unaligned*>(x + t + c * lanes) *
                       *reinterpret_cast<const Unaligned*>(line + c * lanes);
      }
    for (int i = 0; i < count; ++i)
      for (int c = 1; c < chains; ++c) sum[i][0] += sum[i][c];
    whole.add([&](std::int64_t i) { return sum[i][0]; }, count);
  }
  for (int i = 0; i < count; ++i) {
    const Vector sum = whole.sum(i);
    C result{};
    for (std::int64_t lane = 0; lane < lanes; ++lane) result += sum[lane];
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

/// sums[j] = sum over t of x[t] · matrix[t][j] for so many whole vectors of columns, which stay in registers.
template <int Vectors, class C>
inline void rows_in_registers(const C* x, const C* matrix, std::int64_t step, std::int64_t k,
                              C* sums) noexcept {
  using Vector = typename Simd<C>::Vector;
  using Unaligned = typename Simd<C>::Unaligned;
  constexpr std::int64_t lanes = Simd<C>::lanes;
  Vector sum[Vectors] = {};
  for (std::int64_t t = 0; t < k; ++t, matrix += step)
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v)
      sum[v] += x[t] * *reinterpret_cast<const Unaligned*>(matrix + v * lanes);
#pragma GCC unroll 16
  for (int v = 0; v < Vectors; ++v) *reinterpret_cast<Unaligned*>(sums + v * lanes) = sum[v];
}

/// The same for as many of the columns as are whole vectors; returns how many those are.
template <class C>
inline std::int64_t columns_in_registers(const C* x, const C* matrix, std::int64_t step,
                                         std::int64_t k, std::int64_t columns, C* sums) noexcept {
  constexpr std::int64_t lanes = Simd<C>::lanes;
  std::int64_t j = 0;
  const auto some = [&]<int Vectors>() {
    for (; j + Vectors * lanes <= columns; j += Vectors * lanes)
      rows_in_registers<Vectors>(x, matrix + j, step, k, sums + j);
  };
  if constexpr (tile_rows * tile_vectors >= 16) some.template operator()<16>();
  some.template operator()<8>();
  some.template operator()<4>();
  some.template operator()<2>();
  some.template operator()<1>();
  return j;
}

/// sums[j] = sum over t of x[t] · matrix[t][j], one chain. `near`: the matrix lies in the second-level cache,
/// so nothing has to be asked for ahead.
template <class S>
inline void chain_of_rows(const Compute<S>* x, const S* matrix, std::int64_t step, std::int64_t k,
                          std::int64_t columns, bool near, Compute<S>* sums) noexcept {
  using C = Compute<S>;
  alignas(64) C buffer[row_columns];
  if constexpr (std::is_same_v<S, C>)
    if (near) {
      const std::int64_t done = columns_in_registers(x, matrix, step, k, columns, sums);
      matrix += done;
      columns -= done;
      sums += done;
      if (columns == 0) return;
    }
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
}

/// to[j] = sum over t of x[t] · matrix[t][j] for j < columns ≤ row_columns.
template <class S>
inline void weighted_rows(const Compute<S>* x, const S* matrix, std::int64_t step, std::int64_t k,
                          std::int64_t columns, S* to) noexcept {
  using C = Compute<S>;
  alignas(64) C sums[row_columns];
  const auto count = static_cast<std::size_t>(columns);
  constexpr std::int64_t second_level = std::int64_t{1} << 20;
  const bool near = k * step * static_cast<std::int64_t>(sizeof(C)) <= second_level;
  if (k <= chain_length) {
    chain_of_rows(x, matrix, step, k, columns, near, sums);
  } else {
    Pyramid<C, row_columns> whole;
    for (std::int64_t t = 0; t < k; t += chain_length) {
      chain_of_rows(x + t, matrix + t * step, step, std::min(chain_length, k - t), columns, near,
                    sums);
      whole.add([&](std::int64_t j) { return sums[j]; }, columns);
    }
    for (std::int64_t j = 0; j < columns; ++j) sums[j] = whole.sum(j);
  }
  cpu::STOKER_ISA::store_block(static_cast<const C*>(sums), to, count);
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
