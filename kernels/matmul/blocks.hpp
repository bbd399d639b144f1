// Products of whole matrices from tiles: how A, B and C are cut so that each part stays in the cache
// that can feed the loop above it.
//
//     for 480 columns of B
//       for 384 of k                    B's block, packed: second level
//         for 8 rows of A               A's panel, packed: first level
//           for 48 columns              the tile: registers
//
// The numbers are those of f32 with AVX-512. A is packed again for every 480 columns, B once: copies
// that stay in the cache cost less than one shared copy that passes through memory, and slices that
// share nothing need not wait for each other.
#pragma once

#include "stoker/kernels/matmul/pack.hpp"
#include "stoker/kernels/matmul/problem.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

inline constexpr std::int64_t round_up(std::int64_t value, std::int64_t to) noexcept {
  return (value + to - 1) / to * to;
}

template <class C> struct Block {
  static constexpr std::int64_t k = 1536 / static_cast<std::int64_t>(sizeof(C));
  static constexpr std::int64_t columns = 480;
  /// Cuts n columns into blocks of about `columns` and even width: a narrow last block would pay for
  /// packing A and use it little.
  static std::int64_t columns_for(std::int64_t n) noexcept {
    const std::int64_t blocks = std::max<std::int64_t>(1, (n + columns / 2) / columns);
    return round_up((n + blocks - 1) / blocks, tile_columns<C>);
  }
  /// Rows computed at a time where C needs a block of its own, in the type of the products.
  static constexpr std::int64_t rows = 256 / tile_rows * tile_rows;
};

/// A part of one product: rows [m0, m1) and columns [n0, n1) of C.
struct Part {
  std::int64_t m0, m1, n0, n1;
};

/// Packs columns [n0, n1) of k-range [k0, k0 + k) of the B at `b`.
template <class S>
inline void pack_b(const Problem& p, const S* b, std::int64_t k0, std::int64_t k, std::int64_t n0,
                   std::int64_t n1, Compute<S>* to) noexcept {
  constexpr std::int64_t width = tile_columns<Compute<S>>;
  if (p.transpose_b)
    pack_lines_along<width>(b + n0 * p.k + k0, p.k, n1 - n0, k, to);
  else
    pack_lines_across<width>(b + k0 * p.n + n0, p.n, n1 - n0, k, to);
}

/// Scratch that multiply() needs for a part of m × n, in elements of the compute type: a panel of A,
/// a block of B, and a block of C where C is stored in another type.
template <class S> struct MultiplyScratch {
  using C = Compute<S>;
  std::int64_t a, b, c;
  MultiplyScratch(std::int64_t k_all, std::int64_t m, std::int64_t n) noexcept {
    const std::int64_t k = std::min(Block<C>::k, k_all);
    // The widest block that columns_for() makes of up to n columns; it does not grow with n.
    const std::int64_t columns = round_up(std::min(n, Block<C>::columns * 3 / 2), tile_columns<C>);
    a = round_up(tile_rows * k, 16);
    b = round_up(k * columns, 16);
    c = std::is_same_v<S, C> ? 0 : round_up(std::min(m, Block<C>::rows) * columns, 16);
  }
  [[nodiscard]] std::int64_t elements() const noexcept { return a + b + c; }
};

/// All rows [m0, m1) of one block: k elements from k0, whose packed B is `right`. A row's eight lines
/// are read as they lie where they are few and near; else their panel is packed, since lines at
/// like addresses push each other out of the cache.
template <class S>
inline void multiply_rows(const Problem& p, const S* a, std::int64_t m0, std::int64_t m1,
                          std::int64_t k0, std::int64_t k, const Compute<S>* right,
                          std::int64_t columns, Compute<S>* c, std::int64_t c_step,
                          Compute<S>* panel) noexcept {
  using C = Compute<S>;
  const std::int64_t row_step = p.a_row_step();
  const bool near =
      row_step * static_cast<std::int64_t>(sizeof(C)) <= 1024 || columns <= 2 * tile_columns<C>;
  for (std::int64_t m = m0; m < m1; m += tile_rows, c += tile_rows * c_step) {
    const std::int64_t rows = std::min(tile_rows, m1 - m);
    const S* from = a + m * row_step + k0 * p.a_column_step();
    const auto tiles = [&](auto left) {
      for (std::int64_t n = 0; n < columns; n += tile_columns<C>)
        tile(rows, std::min(tile_columns<C>, columns - n), k, left, PackedColumns<C>{right + n * k},
             c + n, c_step, k0 > 0);
    };
    if constexpr (std::is_same_v<S, C>)
      if (near && !p.transpose_a) {
        tiles(StridedRows<C>{from, row_step, 1});
        continue;
      }
    if (p.transpose_a)
      pack_across<tile_rows>(from, p.m, rows, k, panel);
    else
      pack_along<tile_rows>(from, p.k, rows, k, panel);
    tiles(PackedRows<C>{panel});
  }
}

/// C's part = A · B.
template <class S>
inline void multiply(const Problem& p, const S* a, const S* b, S* c, const Part& part,
                     Compute<S>* scratch) noexcept {
  using C = Compute<S>;
  constexpr bool own_c = !std::is_same_v<S, C>;
  const MultiplyScratch<S> sizes(p.k, part.m1 - part.m0, part.n1 - part.n0);
  C* const panel_of_a = scratch;
  C* const block_of_b = panel_of_a + sizes.a;
  C* const block_of_c = block_of_b + sizes.b;
  const std::int64_t block_columns = Block<C>::columns_for(part.n1 - part.n0);
  const std::int64_t block_rows = own_c ? Block<C>::rows : part.m1 - part.m0;

  for (std::int64_t m0 = part.m0; m0 < part.m1; m0 += block_rows) {
    const std::int64_t m1 = std::min(part.m1, m0 + block_rows);
    for (std::int64_t n0 = part.n0; n0 < part.n1; n0 += block_columns) {
      const std::int64_t columns = std::min(part.n1 - n0, block_columns);
      C* target = block_of_c;
      std::int64_t step = columns;
      if constexpr (!own_c) {
        target = c + m0 * p.n + n0;
        step = p.n;
      }
      for (std::int64_t k0 = 0; k0 < p.k; k0 += Block<C>::k) {
        const std::int64_t k = std::min(Block<C>::k, p.k - k0);
        pack_b(p, b, k0, k, n0, n0 + columns, block_of_b);
        multiply_rows(p, a, m0, m1, k0, k, static_cast<const C*>(block_of_b), columns, target, step,
                      panel_of_a);
      }
      if constexpr (own_c)
        for (std::int64_t i = 0; i < m1 - m0; ++i)
          cpu::STOKER_ISA::store_block(static_cast<const C*>(target + i * step),
                                       c + (m0 + i) * p.n + n0, static_cast<std::size_t>(columns));
    }
  }
}

/// C's part for a B that fits in the second-level cache as it is, row-major, with rows of whole
/// vectors: packing would cost more than it saves.
template <class C>
inline void multiply_directly(const Problem& p, const C* a, const C* b, C* c,
                              const Part& part) noexcept {
  // Panels of even width: a last one of a single vector would keep the units half idle.
  const std::int64_t lanes = Simd<C>::lanes;
  for (std::int64_t n0 = part.n0; n0 < part.n1;) {
    const std::int64_t panels = (part.n1 - n0 + tile_columns<C> - 1) / tile_columns<C>;
    const std::int64_t columns = round_up((part.n1 - n0 + panels - 1) / panels, lanes);
    for (std::int64_t m0 = part.m0; m0 < part.m1; m0 += tile_rows)
      tile(std::min(tile_rows, part.m1 - m0), columns, p.k,
           StridedRows<C>{a + m0 * p.a_row_step(), p.a_row_step(), p.a_column_step()},
           StridedColumns<C>{b + n0, p.n}, c + m0 * p.n + n0, p.n, false);
    n0 += columns;
  }
}

/// Whether multiply_directly() may be used, and pays.
template <class S> inline bool direct(const Problem& p) noexcept {
  using C = Compute<S>;
  return std::is_same_v<S, C> && !p.transpose_b && p.n % Simd<C>::lanes == 0 &&
         p.k * p.n * static_cast<std::int64_t>(sizeof(C)) <= std::int64_t{64} * 1024;
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
