// What reductions on the CPU share: those of stored elements (cpu.cpp) and those of programs
// (kernels/fused/reduction_cpu.cpp). Compiled once per instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/reduce/operation.hpp"

namespace stoker::kernels::reduce::STOKER_ISA {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// The widest block of columns (or rows) that one unit of work reduces: its sums stay in the cache.
inline constexpr std::size_t result_block = 4096;
/// Rows whose sums are added up before they join the total, which bounds the length of a chain.
inline constexpr std::size_t rows_per_chain = 256;
/// Columns up to which several rows are taken as one long one.
inline constexpr std::size_t narrow_inner = 64;

/// What one unit of work reduces where the axis is not innermost: `n` neighbouring columns of `rows` rows.
struct ColumnBlock {
  std::size_t first;  ///< its first element
  std::size_t rows;
  std::size_t n;
  std::size_t result;  ///< the first one
};

/// A step whose reduced axis is cut into pieces: [outer, pieces × length, inner] to
/// [outer, pieces, inner].
struct Pass {
  std::size_t outer;
  std::size_t reduced;
  std::size_t inner;
  std::size_t pieces;
  std::size_t length;

  [[nodiscard]] std::size_t results() const noexcept { return outer * pieces * inner; }
  [[nodiscard]] std::size_t elements() const noexcept { return outer * reduced * inner; }

  /// The block of `columns` columns that is unit `unit` of the pass.
  [[nodiscard]] ColumnBlock block(std::size_t unit, std::size_t columns) const noexcept {
    const std::size_t blocks = (inner + columns - 1) / columns;
    const std::size_t column = unit % blocks * columns;
    const std::size_t item = unit / blocks;  // (outer, piece)
    const std::size_t begin = item % pieces * length;
    return {(item / pieces * reduced + begin) * inner + column, std::min(length, reduced - begin),
            std::min(columns, inner - column), item * inner + column};
  }
};

/// How a pass is shared out: `units` of work with `columns` results each, a block of columns or of rows.
struct Shares {
  std::size_t columns;
  std::size_t units;
  std::uint32_t slices;

  /// `grain`: elements that pay for a slice.
  Shares(const Pass& pass, std::size_t grain) {
    if (pass.inner == 1) {
      const std::size_t row = std::max<std::size_t>(pass.length, 1);
      columns = std::clamp<std::size_t>(grain / 4 / row, 1, result_block);
      units = (pass.results() + columns - 1) / columns;
    } else {
      columns = std::min(pass.inner, result_block);
      units = pass.outer * pass.pieces * ((pass.inner + columns - 1) / columns);
    }
    slices = static_cast<std::uint32_t>(
        std::min<std::size_t>(slice_count(pass.elements(), grain), units));
  }
};

/// Converts sums to what the pass leaves: partial results, or the final ones divided by `count`.
template <class A>
using Finish = void (*)(const A* sums, std::size_t n, double count, void* to, std::size_t first);

template <class A, class D>
void finish(const A* sums, std::size_t n, double count, void* to, std::size_t first) {
  D* out = static_cast<D*>(to) + first;
  if constexpr (std::is_floating_point_v<A>) {
    constexpr std::size_t block = 256;
    A scaled[block];
    for (std::size_t i = 0; i < n; i += block) {
      const std::size_t m = std::min(block, n - i);
      for (std::size_t k = 0; k < m; ++k)
        scaled[k] = count == 1 ? sums[i + k] : static_cast<A>(sums[i + k] / count);
      cpu::store_block<D>(scaled, out + i, m);
    }
  } else {
    std::copy_n(sums, n, out);
  }
}

/// The sums of `n` ≤ result_block columns of `rows` rows, of which add(row, count, to) combines `count` from `row`
/// on with those at `to`. The chains of what rounds are cut, with `chain` for memory.
template <class Op, class A, class Add>
void reduce_columns(std::size_t rows, std::size_t n, A* sums, A* chain, const Add& add) {
  std::fill_n(sums, n, Op::template identity<A>());
  if (!cpu::rounds<Op, A> || rows <= rows_per_chain) return add(std::size_t{0}, rows, sums);
  for (std::size_t row = 0; row < rows; row += rows_per_chain) {
    std::fill_n(chain, n, Op::template identity<A>());
    add(row, std::min(rows_per_chain, rows - row), chain);
    for (std::size_t j = 0; j < n; ++j) sums[j] = Op::combine(sums[j], chain[j]);
  }
}

/// The sums of `inner` columns from those of `together` rows that were taken as one.
template <class Op, class A>
void fold(const A* wide, std::size_t together, std::size_t inner, A* sums) {
  std::copy_n(wide, inner, sums);
  for (std::size_t k = 1; k < together; ++k)
    for (std::size_t j = 0; j < inner; ++j)
      sums[j] = static_cast<A>(Op::combine(sums[j], wide[k * inner + j]));
}

/// The combining of an operation; a mean is a sum.
template <Operation operation>
using Combining = std::conditional_t<
    operation == Operation::product, cpu::Product,
    std::conditional_t<
        operation == Operation::all, cpu::All,
        std::conditional_t<operation == Operation::any, cpu::Any,
                           std::conditional_t<operation == Operation::max, cpu::Max,
                                              std::conditional_t<operation == Operation::min,
                                                                 cpu::Min, cpu::Sum>>>>>;

/// plan.operator()<Op, A, D>(count) for values of the dtype T that are read as S: combined by Op in type A, with
/// results of dtype D that are divided by `count`. No plan: the operation does not take T.
template <Operation operation, class T, class S, class Plan>
CpuPlan plan_types(std::int64_t elements, const Plan& plan) {
  using Op = Combining<operation>;
  const double count = operation == Operation::mean ? static_cast<double>(elements) : 1;
  if constexpr (cpu::takes_truths<Op>) {
    return plan.template operator()<Op, std::uint8_t, std::uint8_t>(count);
  } else if constexpr (operation == Operation::max || operation == Operation::min) {
    if constexpr (std::is_same_v<T, bool>)
      return {};
    else
      return plan.template operator()<Op, S, T>(count);
  } else if constexpr (std::is_floating_point_v<S>) {
    return plan.template operator()<Op, S, T>(count);
  } else if constexpr (operation == Operation::mean) {
    return plan.template operator()<Op, float, float>(count);
  } else {
    // Sums and products wrap, so signed ones are formed unsigned.
    using Result = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;
    return plan.template operator()<Op, Result, Result>(count);
  }
}

}  // namespace stoker::kernels::reduce::STOKER_ISA
