// Copies blocks of matrices into the order in which the tile loop reads them.
//
// A panel is `width` rows of A (or columns of B) by k, stored as k groups of `width` neighbours, so
// that the inner loop reads memory strictly forward and touches few pages. Packing also converts
// the 16-bit floats to the type that the products are computed in.
#pragma once

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/matmul/tile.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

template <class S> using Compute = cpu::STOKER_ISA::Compute<S>;

/// Transposes 8 × 8 floats: to[j * to_step + i] = from[i * from_step + j].
inline void transpose_8x8(const float* from, std::int64_t from_step, float* to,
                          std::int64_t to_step) noexcept {
  typedef float Eight __attribute__((vector_size(32)));
  typedef float EightUnaligned __attribute__((vector_size(32), aligned(4), may_alias));
  Eight rows[8], mixed[8];
  for (int i = 0; i < 8; ++i)
    rows[i] = *reinterpret_cast<const EightUnaligned*>(from + i * from_step);
  for (int i = 0; i < 8; i += 2) {
    mixed[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    mixed[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = i; j < i + 2; ++j) {
      rows[j] = __builtin_shufflevector(mixed[j], mixed[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      rows[j + 2] = __builtin_shufflevector(mixed[j], mixed[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int j = 0; j < 4; ++j) {
    *reinterpret_cast<EightUnaligned*>(to + j * to_step) =
        __builtin_shufflevector(rows[j], rows[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *reinterpret_cast<EightUnaligned*>(to + (j + 4) * to_step) =
        __builtin_shufflevector(rows[j], rows[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// One panel from `lines` lines whose elements along k are neighbours: line i starts at
/// from + i * line_step. Entries past `lines` are set to 0.
template <std::int64_t width, class S>
inline void pack_along(const S* from, std::int64_t line_step, std::int64_t lines, std::int64_t k,
                       Compute<S>* to) noexcept {
  using C = Compute<S>;
  if constexpr (!std::is_same_v<S, C>) {
    // Convert some columns of all lines, then turn those.
    constexpr std::int64_t columns = 64;
    alignas(64) C converted[width * columns];
    for (std::int64_t t = 0; t < k; t += columns) {
      const std::int64_t here = std::min(columns, k - t);
      for (std::int64_t i = 0; i < lines; ++i)
        cpu::STOKER_ISA::load_block(from + i * line_step + t, converted + i * columns,
                                    static_cast<std::size_t>(here));
      pack_along<width>(static_cast<const C*>(converted), columns, lines, here, to + t * width);
    }
  } else {
    std::int64_t i = 0;
    if constexpr (std::is_same_v<C, float> && width >= 8) {
      for (; i + 8 <= lines; i += 8) {
        std::int64_t t = 0;
        for (; t + 8 <= k; t += 8)
          transpose_8x8(from + i * line_step + t, line_step, to + t * width + i, width);
        for (; t < k; ++t)
          for (std::int64_t row = i; row < i + 8; ++row)
            to[t * width + row] = from[row * line_step + t];
      }
    }
    for (; i < lines; ++i)
      for (std::int64_t t = 0; t < k; ++t) to[t * width + i] = from[i * line_step + t];
    for (; i < width; ++i)
      for (std::int64_t t = 0; t < k; ++t) to[t * width + i] = C{};
  }
}

/// One panel from `k` lines whose elements across the panel are neighbours.
template <std::int64_t width, class S>
inline void pack_across(const S* from, std::int64_t line_step, std::int64_t lines, std::int64_t k,
                        Compute<S>* to) noexcept {
  for (std::int64_t t = 0; t < k; ++t, from += line_step, to += width) {
    if (lines == width) {
      cpu::STOKER_ISA::load_block(from, to, static_cast<std::size_t>(width));
    } else {
      cpu::STOKER_ISA::load_block(from, to, static_cast<std::size_t>(lines));
      for (std::int64_t i = lines; i < width; ++i) to[i] = Compute<S>{};
    }
  }
}

/// Panels of `width` for `lines` lines of length k, one after the other, from lines whose neighbours in
/// memory are those along k.
template <std::int64_t width, class S>
inline void pack_lines_along(const S* from, std::int64_t line_step, std::int64_t lines,
                             std::int64_t k, Compute<S>* to) noexcept {
  for (std::int64_t first = 0; first < lines; first += width, to += width * k)
    pack_along<width>(from + first * line_step, line_step, std::min(width, lines - first), k, to);
}

/// The same from k rows that run across all lines, read whole so that they stream from memory.
template <std::int64_t width, class S>
inline void pack_lines_across(const S* from, std::int64_t row_step, std::int64_t lines,
                              std::int64_t k, Compute<S>* to) noexcept {
  for (std::int64_t t = 0; t < k; ++t, from += row_step, to += width)
    for (std::int64_t first = 0; first < lines; first += width)
      pack_across<width>(from + first, row_step, std::min(width, lines - first), 1, to + first * k);
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
