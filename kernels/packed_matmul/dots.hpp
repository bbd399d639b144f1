// Few rows times packed weights: each number is unpacked once, and multiplied by the elements of all rows at once.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include "stoker/kernels/packed_matmul/scales.hpp"
#include "stoker/kernels/packed_matmul/unpack.hpp"

namespace stoker::kernels::packed_matmul::STOKER_ISA {

/// Rows of A, arranged, one after the other, and where their results go.
struct Rows {
  const float* a;
  const float* piece_sums;  ///< of one row: of each piece the sum of its vectors
  float* c;
  std::int64_t c_step;
};

/// The sum of the vectors of each piece of a row.
template <class P> inline void sum_pieces(const float* a, std::int64_t k, float* to) noexcept {
  for (std::int64_t t = 0; t < k; t += P::numbers, to += P::lanes) {
    typename P::Floats sum = P::load(a + t);
#pragma GCC unroll 8
    for (int v = 1; v < P::vectors; ++v) sum += P::load(a + t + v * P::lanes);
    P::store(sum, to);
  }
}

/// sums[j] += one row's piece times those of some columns. The zero point leaves the piece's sum once, and the scale
/// multiplies once.
template <class P, int columns>
inline void add_piece(const float* a, const float* piece_sum, const std::uint8_t* b,
                      std::int64_t step, const Scaling (&scaling)[columns], std::int64_t block,
                      typename P::Floats (&sums)[columns][1]) noexcept {
  typename P::Floats left[P::vectors];
#pragma GCC unroll 8
  for (int v = 0; v < P::vectors; ++v) left[v] = P::load(a + v * P::lanes);
  const typename P::Floats start = P::load(piece_sum);
#pragma GCC unroll 4
  for (int j = 0; j < columns; ++j) {
    __builtin_prefetch(b + (j + columns) * step);  // of the next columns
    typename P::Floats part = start * scaling[j].less[block];
    P::unpack(b + j * step,
              [&](int v, const typename P::Floats& numbers) { part += numbers * left[v]; });
    sums[j][0] += part * scaling[j].factors[block];
  }
}

/// sums[j][r] += the same of several rows, `a_step` apart.
template <class P, int rows, int columns>
inline void add_piece(const float* a, std::int64_t a_step, const std::uint8_t* b, std::int64_t step,
                      const Scaling (&scaling)[columns], std::int64_t block,
                      typename P::Floats (&sums)[columns][rows]) noexcept {
#pragma GCC unroll 4
  for (int j = 0; j < columns; ++j) {
    const float factor = scaling[j].factors[block], offset = scaling[j].less[block] * factor;
    P::unpack(b + j * step, [&](int v, const typename P::Floats& numbers) {
      const typename P::Floats weights = numbers * factor + offset;
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) sums[j][r] += weights * P::load(a + r * a_step + v * P::lanes);
    });
  }
}

/// c[r · c_step + j] = row r of A times column j, for `rows` × `columns` of them. The columns pass by together, so
/// that additions need not wait for one another. With piece sums, which only one row may have, it is faster.
template <class P, int rows, int columns, bool has_sums = rows == 1>
inline void dots(const Problem& p, const Rows& of, const std::uint8_t* b,
                 const Scaling (&scaling)[columns]) noexcept {
  using Floats = typename P::Floats;
  /// As many pieces are added up before their sum is added to the total, so that fewer roundings lie on each other.
  constexpr std::int64_t chain = 256;
  const std::int64_t pieces = p.column_bytes() / P::bytes, step = p.column_bytes();
  Place place{0, p.block_bytes() / P::bytes};
  Floats total[columns][rows] = {};
  for (std::int64_t piece = 0; piece < pieces;) {
    Floats sums[columns][rows] = {};
    for (const std::int64_t end = std::min(pieces, piece + chain); piece < end; ++piece) {
      const float* const a = of.a + piece * P::numbers;
      if constexpr (has_sums)
        add_piece<P>(a, of.piece_sums + piece * P::lanes, b + piece * P::bytes, step, scaling,
                     place.block(), sums);
      else
        add_piece<P>(a, p.padded_k(), b + piece * P::bytes, step, scaling, place.block(), sums);
      place.next();
    }
#pragma GCC unroll 4
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) total[j][r] += sums[j][r];
  }
#pragma GCC unroll 4
  for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      float result = 0;
#pragma GCC unroll 16
      for (int lane = 0; lane < P::lanes; ++lane) result += total[j][r][lane];
      of.c[r * of.c_step + j] = result;
    }
}

/// One row times one column without piece sums.
template <class P>
[[gnu::noinline]] void dot_of_weights(const Problem& p, const Rows& of, const std::uint8_t* b,
                                      const Scaling& scaling) noexcept {
  const Scaling one[1] = {scaling};
  dots<P, 1, 1, false>(p, of, b, one);
}

}  // namespace stoker::kernels::packed_matmul::STOKER_ISA
