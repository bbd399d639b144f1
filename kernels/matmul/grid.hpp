// How a product is shared out among slices.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include <cmath>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/blocks.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

/// How many slices are wanted for some multiply-adds: each worth handing to another thread, one for
/// each core where the work is short, two where it is long enough that cores may drift apart. More,
/// smaller parts would pack the same rows and columns more often.
[[nodiscard]] inline std::uint32_t wanted_slices(double work) noexcept {
  constexpr double slice_work = 1 << 20;
  constexpr double long_work = std::int64_t{1} << 31;
  const std::uint32_t cores = slice_count(std::size_t{1} << 30, 1) / 4;
  const double slices = std::min(work / slice_work, work < long_work ? cores : 2.0 * cores);
  return std::max(1U, static_cast<std::uint32_t>(std::lround(slices)));
}

/// How C is shared out: each batch in `rows` × `columns` parts.
struct Grid {
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;

  [[nodiscard]] std::uint32_t slices(const Problem& p) const noexcept {
    return static_cast<std::uint32_t>(p.batches) * rows * columns;
  }
  /// The part that `index` of a batch stands for.
  [[nodiscard]] Part part(const Problem& p, std::uint32_t index, std::int64_t row_align,
                          std::int64_t column_align) const noexcept {
    const SliceRange m = slice_range(static_cast<std::size_t>(p.m), rows, index / columns,
                                     static_cast<std::size_t>(row_align));
    const SliceRange n = slice_range(static_cast<std::size_t>(p.n), columns, index % columns,
                                     static_cast<std::size_t>(column_align));
    return {static_cast<std::int64_t>(m.begin), static_cast<std::int64_t>(m.end),
            static_cast<std::int64_t>(n.begin), static_cast<std::int64_t>(n.end)};
  }
};

/// At most `wanted` parts of at least `grain` elements each.
[[nodiscard]] inline std::uint32_t parts(std::int64_t elements, std::int64_t grain,
                                         std::int64_t wanted) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(elements / grain, 1, std::max<std::int64_t>(wanted, 1)));
}

/// A grid of about `wanted` parts, as square as can be: the sides of a part say how often what was
/// packed is used.
[[nodiscard]] inline Grid grid_of(const Problem& p, std::uint32_t wanted) noexcept {
  constexpr std::int64_t smallest = 32;
  Grid grid;
  while (p.batches * grid.rows * grid.columns < wanted) {
    const std::int64_t m = p.m / grid.rows;
    const std::int64_t n = p.n / grid.columns;
    if (std::max(m, n) < 2 * smallest) break;
    // Rows first: their parts of C are whole pages.
    ++(n >= 2 * m ? grid.columns : grid.rows);
  }
  return grid;
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
