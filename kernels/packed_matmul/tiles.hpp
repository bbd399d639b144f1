// Many rows times packed weights: the numbers of some columns become floats, which stay in the cache, and tiles of
// registers (kernels/matmul/tile.hpp) multiply them.
//
// A tile's rows are columns of the weights, which need no other order for that, and its lanes are rows of A. So the
// tiles make C turned over: C is turned back where a panel of columns is complete.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include "stoker/kernels/matmul/pack.hpp"
#include "stoker/kernels/packed_matmul/scales.hpp"
#include "stoker/kernels/packed_matmul/unpack.hpp"

namespace stoker::kernels::packed_matmul::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Terms that are unpacked at a time: whole pieces. As many roundings lie on each other.
inline constexpr std::int64_t depth_at_once = 512;
/// Columns that are unpacked at a time, whole tiles.
inline constexpr std::int64_t panel_columns = 24;
static_assert(panel_columns % mm::tile_rows == 0);
/// Rows of A beside which a panel's numbers are unpacked again.
inline constexpr std::int64_t panel_rows = 384;

/// Rows of A in strips of the width of a tile, each along all terms: for each term the strip's rows side by side, in
/// the order of unpacked numbers.
class Strips {
 public:
  /// A strip's width is a multiple of it: whole vectors, and what is turned at a time.
  static constexpr std::int64_t unit = std::max<std::int64_t>(8, native_lanes);

  explicit Strips(const Problem& p) noexcept : depth_{p.padded_k()}, units_{parts(p.m, unit)} {
    constexpr std::int64_t most = mm::tile_columns<float> / unit;
    // Of about the same width, as narrow ones do less with each number that is loaded.
    units_of_strip_ = parts(units_, std::max<std::int64_t>(1, parts(units_, most)));
  }
  [[nodiscard]] std::int64_t count() const noexcept { return parts(units_, units_of_strip_); }
  [[nodiscard]] std::int64_t first_row(std::int64_t strip) const noexcept {
    return strip * units_of_strip_ * unit;
  }
  [[nodiscard]] std::int64_t width(std::int64_t strip) const noexcept {
    return std::min(units_of_strip_, units_ - strip * units_of_strip_) * unit;
  }
  [[nodiscard]] std::int64_t elements() const noexcept { return units_ * unit * depth_; }
  /// Where the elements of a term begin.
  [[nodiscard]] std::int64_t at(std::int64_t strip, std::int64_t term) const noexcept {
    return first_row(strip) * depth_ + term * width(strip);
  }

 private:
  [[nodiscard]] static std::int64_t parts(std::int64_t extent, std::int64_t each) noexcept {
    return (extent + each - 1) / each;
  }
  std::int64_t depth_;
  std::int64_t units_;
  std::int64_t units_of_strip_ = 1;
};

/// Puts up to depth_at_once terms of a strip of A, from `term` on, where `strips` has them.
template <class P, class S>
inline void pack_strip(const Problem& p, const Strips& strips, const S* a, std::int64_t strip,
                       std::int64_t term, float* packed) noexcept {
  alignas(64) float rows[8 * depth_at_once];
  const std::int64_t depth = std::min(depth_at_once, p.padded_k() - term);
  const std::int64_t given = std::clamp<std::int64_t>(p.k - term, 0, depth);
  const std::int64_t width = strips.width(strip);
  float* const to = packed + strips.at(strip, term);
  for (std::int64_t i = 0; i < width; i += 8) {
    for (std::int64_t r = 0; r < 8; ++r) {
      const std::int64_t row = strips.first_row(strip) + i + r;
      float* const line = rows + r * depth_at_once;
      if (row < p.m)
        arrange<P>(a + row * p.k + std::min(term, p.k), given, depth, line);
      else
        std::fill_n(line, depth, 0.0F);
    }
    for (std::int64_t t = 0; t < depth; t += 8)
      mm::transpose_8x8(rows + t, depth_at_once, to + t * width + i, width);
  }
}

/// Unpacked columns, one after the other.
struct UnpackedColumns {
  const float* data;
  const float& operator()(std::int64_t i, std::int64_t t) const noexcept {
    return data[i * depth_at_once + t];
  }
  [[nodiscard]] UnpackedColumns from(std::int64_t column) const noexcept {
    return {data + column * depth_at_once};
  }
};

/// A half-open range.
struct Range {
  std::int64_t first;
  std::int64_t last;
  [[nodiscard]] std::int64_t count() const noexcept { return last - first; }
};

/// Part of a product: C's columns of some strips.
class Panels {
 public:
  /// Floats of `own` memory.
  static constexpr std::int64_t own_floats = panel_columns * (depth_at_once + panel_rows);

  Panels(const Problem& p, const Strips& strips, const Scales& scales, const std::uint8_t* b,
         const float* a, float* c, float* own) noexcept
      : p_{p},
        strips_{strips},
        scales_{scales},
        b_{b},
        a_{a},
        c_{c},
        unpacked_{own},
        turned_{own + panel_columns * depth_at_once} {}

  template <class P> void multiply(const Range& columns, const Range& strips) const noexcept {
    const std::int64_t at_once = panel_rows / mm::tile_columns<float>;
    for (std::int64_t j = columns.first; j < columns.last; j += panel_columns)
      for (std::int64_t s = strips.first; s < strips.last; s += at_once)
        multiply_panel<P>({j, std::min(columns.last, j + panel_columns)},
                          {s, std::min(strips.last, s + at_once)});
  }

 private:
  template <class P> void multiply_panel(const Range& columns, const Range& strips) const noexcept {
    for (std::int64_t term = 0; term < p_.padded_k(); term += depth_at_once) {
      const std::int64_t depth = std::min(depth_at_once, p_.padded_k() - term);
      for (std::int64_t j = columns.first; j < columns.last; ++j)
        unpack<P>(j, term, depth, unpacked_ + (j - columns.first) * depth_at_once);
      for (std::int64_t s = strips.first; s < strips.last; ++s) {
        const std::int64_t width = strips_.width(s);
        const mm::StridedColumns<float> left{a_ + strips_.at(s, term), width};
        for (std::int64_t j = 0; j < columns.count(); j += mm::tile_rows)
          mm::rows_of_tile<float>(
              std::min(mm::tile_rows, columns.count() - j), width / native_lanes, depth,
              UnpackedColumns{unpacked_}.from(j), left,
              turned_ + j * panel_rows + strips_.first_row(s) - strips_.first_row(strips.first),
              panel_rows, term > 0);
      }
    }
    const std::int64_t row = strips_.first_row(strips.first);
    turn({row, std::min(p_.m, strips_.first_row(strips.last))}, columns);
  }

  template <class P>
  void unpack(std::int64_t j, std::int64_t term, std::int64_t depth, float* to) const noexcept {
    constexpr std::int64_t most_blocks = depth_at_once / 16 + 1;
    float factors[Scales::room(most_blocks)], less[Scales::room(most_blocks)];
    const std::int64_t first = term / p_.block;
    const Scaling scaling =
        scales_.of(j, first, (term + depth - 1) / p_.block + 1 - first, factors, less);
    const std::uint8_t* from = b_ + j * p_.column_bytes() + term * P::bits / 8;
    ask_for_next<P>(j, term + depth);
    Place place{term / P::numbers, p_.block / P::numbers};
    for (std::int64_t t = 0; t < depth; t += P::numbers, from += P::bytes, place.next()) {
      const std::int64_t block = place.block() - first;
      const float factor = scaling.factors[block], offset = scaling.less[block] * factor;
      P::unpack(from, [&](int v, const typename P::Floats& numbers) {
        P::store(numbers * factor + offset, to + t + v * P::lanes);
      });
    }
  }

  /// What stands in a column's place the next time: its next terms, or the next panel's first. They lie too far apart
  /// for the processor to foresee them.
  template <class P> void ask_for_next(std::int64_t j, std::int64_t term) const noexcept {
    if (term >= p_.padded_k()) {
      j += panel_columns;
      term = 0;
    }
    const std::uint8_t* const numbers = b_ + j * p_.column_bytes() + term * P::bits / 8;
#pragma GCC unroll 4
    for (std::int64_t byte = 0; byte < depth_at_once * P::bits / 8; byte += 64)
      __builtin_prefetch(numbers + byte);
    scales_.ask_for(j, term / p_.block);
  }

  /// C's part from the panel's results.
  void turn(const Range& rows, const Range& columns) const noexcept {
    for (std::int64_t i = 0; i < rows.count(); i += 8)
      for (std::int64_t j = 0; j < columns.count(); j += 8) {
        const float* const from = turned_ + j * panel_rows + i;
        float* const to = c_ + (rows.first + i) * p_.n + columns.first + j;
        const std::int64_t high = std::min<std::int64_t>(8, rows.count() - i);
        const std::int64_t wide = std::min<std::int64_t>(8, columns.count() - j);
        if (high == 8 && wide == 8) {
          mm::transpose_8x8(from, panel_rows, to, p_.n);
          continue;
        }
        for (std::int64_t r = 0; r < high; ++r)
          for (std::int64_t q = 0; q < wide; ++q) to[r * p_.n + q] = from[q * panel_rows + r];
      }
  }

  const Problem& p_;
  const Strips& strips_;
  const Scales& scales_;
  const std::uint8_t* b_;
  const float* a_;
  float* c_;
  float* unpacked_;
  float* turned_;
};

}  // namespace stoker::kernels::packed_matmul::STOKER_ISA
