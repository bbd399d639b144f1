#include <type_traits>

#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/rows/axis_rows.hpp"
#include "stoker/kernels/scan/operation.hpp"

namespace stoker::kernels::scan::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

// Columns that are scanned together.
constexpr std::size_t column_block = 512;
// Rows whose combination joins the total at once, which bounds the length of a chain of roundings.
constexpr std::size_t rows_per_chain = 256;
// An axis is cut into pieces of about this many elements where there is little beside it. The cut
// depends on the shape only, so results do not depend on the number of slices.
constexpr std::size_t piece_elements = std::size_t{64} << 10;
constexpr std::size_t enough_lines = 16;

struct Problem {
  std::size_t outer;
  std::size_t length;
  std::size_t inner;
  std::size_t blocks;  // of columns
  std::size_t piece;   // rows of a piece
  std::size_t pieces;
  bool reverse;

  [[nodiscard]] std::size_t units() const noexcept { return outer * pieces * blocks; }
};

/// One piece of one block of columns, in the order of walking: `begin` counts from the end of the
/// axis if it is walked backwards.
struct Unit {
  std::size_t outer;
  std::size_t piece;
  std::size_t column;
  std::size_t columns;
  std::size_t begin;
  std::size_t rows;

  Unit(const Problem& p, std::size_t index)
      : outer{index / p.blocks / p.pieces},
        piece{index / p.blocks % p.pieces},
        column{index % p.blocks * column_block},
        columns{std::min(column_block, p.inner - column)},
        begin{piece * p.piece},
        rows{std::min(p.piece, p.length - begin)} {}

  /// The element offset of walking position i.
  [[nodiscard]] std::size_t at(const Problem& p, std::size_t i) const noexcept {
    const std::size_t row = p.reverse ? p.length - 1 - begin - i : begin + i;
    return (outer * p.length + row) * p.inner + column;
  }
  [[nodiscard]] std::size_t total(const Problem& p) const noexcept {
    return (outer * p.pieces + piece) * p.inner + column;
  }
};

/// The lanes moved by `Step` places in the order of walking; what enters is the identity.
template <std::size_t Step, bool Reverse, class A, std::size_t... I>
inline cpu::Lanes<A> moved(const cpu::Lanes<A>& lanes, const cpu::Lanes<A>& identity,
                           std::index_sequence<I...>) noexcept {
  constexpr std::size_t n = sizeof...(I);
  if constexpr (Reverse)
    return __builtin_shufflevector(lanes, identity, (I + Step)...);
  else
    return __builtin_shufflevector(identity, lanes, (I + n - Step)...);
}

/// Every lane becomes the combination of the lanes up to it, in log2 steps.
template <class Op, bool Reverse, class A, std::size_t Step = 1>
inline cpu::Lanes<A> scanned(const cpu::Lanes<A>& lanes, const cpu::Lanes<A>& identity) noexcept {
  constexpr std::size_t n = cpu::lane_count<A>;
  if constexpr (Step >= n)
    return lanes;
  else
    return scanned<Op, Reverse, A, Step * 2>(
        Op::combine(moved<Step, Reverse, A>(lanes, identity, std::make_index_sequence<n>{}), lanes),
        identity);
}

/// y[i] = start ∘ x[0] ∘ … ∘ x[i] (from the back with Reverse); returns the combination of all x
/// alone. `y` may be `x`.
template <class Op, bool Reverse, class A>
inline A scan_block(const A* x, A* y, std::size_t n, A start) noexcept {
  constexpr std::size_t width = cpu::lane_count<A>;
  const cpu::Lanes<A> identity = cpu::identity_lanes<Op, A>();
  const cpu::Lanes<A> first = cpu::Lanes<A>{} + start;
  A sum = Op::template identity<A>();
  std::size_t done = 0;
  for (; done + width <= n; done += width) {
    const std::size_t at = Reverse ? n - done - width : done;
    const cpu::Lanes<A> local = Op::combine(
        cpu::Lanes<A>{} + sum, scanned<Op, Reverse, A>(cpu::load_lanes(x + at), identity));
    sum = local[Reverse ? 0 : width - 1];
    const cpu::Lanes<A> result = Op::combine(first, local);
    std::memcpy(y + at, &result, cpu::vector_bytes);
  }
  for (; done < n; ++done) {
    const std::size_t at = Reverse ? n - done - 1 : done;
    sum = static_cast<A>(Op::combine(sum, x[at]));
    y[at] = static_cast<A>(Op::combine(start, sum));
  }
  return sum;
}

/// Scans `n` adjacent elements, a block at a time, after `total`; returns the total with them. In
/// memory `x` and `y` begin at the lowest address whatever the order of walking.
template <class Op, bool Reverse, class A, class T>
cpu::Total<Op, A> scan_row(const T* x, T* y, std::size_t n, cpu::Total<Op, A> total) noexcept {
  constexpr bool direct = sizeof(T) == sizeof(A);
  alignas(64) A block[cpu::block_elements];
  for (std::size_t done = 0; done < n; done += cpu::block_elements) {
    const std::size_t count = std::min(cpu::block_elements, n - done);
    const std::size_t at = Reverse ? n - done - count : done;
    A local;
    if constexpr (direct) {
      local = scan_block<Op, Reverse>(reinterpret_cast<const A*>(x + at),
                                      reinterpret_cast<A*>(y + at), count, static_cast<A>(total));
    } else {
      cpu::load_block(x + at, block, count);
      local = scan_block<Op, Reverse>(block, block, count, static_cast<A>(total));
      cpu::store_block(block, y + at, count);
    }
    total =
        static_cast<cpu::Total<Op, A>>(Op::combine(total, static_cast<cpu::Total<Op, A>>(local)));
  }
  return total;
}

/// Scans columns downwards in the order of walking. `total` is advanced by what was met.
template <class Op, class A, class T, bool TotalsOnly>
void scan_columns(const Problem& p, const Unit& unit, const T* x, T* y,
                  cpu::Total<Op, A>* total) noexcept {
  alignas(64) A base[column_block];
  alignas(64) A part[column_block];
  alignas(64) A row[column_block];
  constexpr bool direct = sizeof(T) == sizeof(A);
  for (std::size_t first = 0; first < unit.rows; first += rows_per_chain) {
    for (std::size_t j = 0; j < unit.columns; ++j) base[j] = static_cast<A>(total[j]);
    std::fill_n(part, unit.columns, Op::template identity<A>());
    for (std::size_t i = first; i < std::min(first + rows_per_chain, unit.rows); ++i) {
      const std::size_t at = unit.at(p, i);
      const A* from = row;
      if constexpr (direct)
        from = reinterpret_cast<const A*>(x + at);
      else
        cpu::load_block(x + at, row, unit.columns);
      for (std::size_t j = 0; j < unit.columns; ++j)
        part[j] = static_cast<A>(Op::combine(part[j], from[j]));
      if constexpr (!TotalsOnly) {
        A* to = row;
        if constexpr (direct) to = reinterpret_cast<A*>(y + at);
#pragma GCC ivdep
        for (std::size_t j = 0; j < unit.columns; ++j)
          to[j] = static_cast<A>(Op::combine(base[j], part[j]));
        if constexpr (!direct) cpu::store_block(row, y + at, unit.columns);
      }
    }
    for (std::size_t j = 0; j < unit.columns; ++j)
      total[j] = static_cast<cpu::Total<Op, A>>(
          Op::combine(total[j], static_cast<cpu::Total<Op, A>>(part[j])));
  }
}

/// What a piece amounts to, into `total`.
template <class Op, class A, class T>
void total_of(const Problem& p, const Unit& unit, const T* x, cpu::Total<Op, A>* total) noexcept {
  using Sum = cpu::Total<Op, A>;
  std::fill_n(total, unit.columns, Op::template identity<Sum>());
  if (p.inner > 1) {
    scan_columns<Op, A, T, true>(p, unit, x, nullptr, total);
    return;
  }
  const std::size_t lowest = unit.at(p, p.reverse ? unit.rows - 1 : 0);
  if constexpr (sizeof(T) == sizeof(A))
    *total = cpu::accumulate<Op, A>(reinterpret_cast<const A*>(x + lowest), unit.rows);
  else
    *total = cpu::accumulate<Op, A>(x + lowest, unit.rows);
}

template <class Op, class A, class T>
void scan_unit(const Problem& p, const Unit& unit, const CpuArgs& args,
               const cpu::Total<Op, A>* before) {
  using Sum = cpu::Total<Op, A>;
  alignas(64) Sum total[column_block];
  if (p.pieces > 1)
    std::copy_n(before + unit.total(p), unit.columns, total);
  else
    std::fill_n(total, unit.columns, Op::template identity<Sum>());
  if (p.inner > 1) {
    scan_columns<Op, A, T, false>(p, unit, args.in<T>(0), args.out<T>(), total);
    return;
  }
  const std::size_t lowest = unit.at(p, p.reverse ? unit.rows - 1 : 0);
  if (p.reverse)
    scan_row<Op, true, A>(args.in<T>(0) + lowest, args.out<T>() + lowest, unit.rows, total[0]);
  else
    scan_row<Op, false, A>(args.in<T>(0) + lowest, args.out<T>() + lowest, unit.rows, total[0]);
}

/// Turns the pieces' totals into what is before each of them.
template <class Op, class Sum> void exclusive(const Problem& p, Sum* totals) noexcept {
  for (std::size_t outer = 0; outer < p.outer; ++outer)
    for (std::size_t column = 0; column < p.inner; ++column) {
      Sum before = Op::template identity<Sum>();
      for (std::size_t piece = 0; piece < p.pieces; ++piece) {
        Sum& here = totals[(outer * p.pieces + piece) * p.inner + column];
        const Sum own = here;
        here = before;
        before = static_cast<Sum>(Op::combine(before, own));
      }
    }
}

template <class Op, class A, class T> void add_stages(CpuPlan& plan, const Problem& p) {
  using Sum = cpu::Total<Op, A>;
  const std::size_t elements = p.outer * p.length * p.inner;
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(slice_count(elements, std::size_t{32} << 10), p.units()));
  const auto each = [p, slices](std::uint32_t index, auto&& body) {
    const SliceRange range = slice_range(p.units(), slices, index, 1);
    for (std::size_t i = range.begin; i < range.end; ++i) body(Unit{p, i});
  };
  const auto totals = [](const CpuArgs& args) { return reinterpret_cast<Sum*>(args.scratch); };
  if (p.pieces > 1) {
    plan.scratch_bytes = p.outer * p.pieces * p.inner * sizeof(Sum);
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             each(index, [&](const Unit& unit) {
                               total_of<Op, A>(p, unit, args.in<T>(0),
                                               totals(args) + unit.total(p));
                             });
                           }});
    plan.stages.push_back(
        {1, [=](const CpuArgs& args, std::uint32_t) { exclusive<Op>(p, totals(args)); }});
  }
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         each(index, [&](const Unit& unit) { scan_unit<Op, A, T>(p, unit, args, totals(args)); });
       }});
}

Problem problem(const rows::AxisRows& r, bool reverse) {
  Problem p{static_cast<std::size_t>(r.outer),
            static_cast<std::size_t>(r.length),
            static_cast<std::size_t>(r.inner),
            1,
            static_cast<std::size_t>(r.length),
            1,
            reverse};
  p.blocks = (p.inner + column_block - 1) / column_block;
  const std::size_t width = std::min(p.inner, column_block);
  const std::size_t piece = std::max(piece_elements / width, rows_per_chain);
  if (p.outer * p.blocks < enough_lines && p.length >= 4 * piece) {
    p.piece = piece;
    p.pieces = (p.length + piece - 1) / piece;
  }
  return p;
}

template <class Op>
Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const auto given = options::from<CumulativeSum>(call.params);  // all have the same options
  STOKER_ASSIGN(const rows::AxisRows r, rows::along("scan", call, given.axis));
  const Problem p = problem(r, given.reverse);
  return cpu::plan_numeric<Op>(call.dtype(), [&]<class A, class T>() {
    CpuPlan plan;
    plan.cost_ns = 100 + static_cast<double>(outputs[0].elements()) * 0.3;
    add_stages<Op, A, T>(plan, p);
    return plan;
  });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("cumulative_sum", &plan<cpu::Sum>);
  table.set("cumulative_product", &plan<cpu::Product>);
  table.set("cumulative_max", &plan<cpu::Max>);
  table.set("cumulative_min", &plan<cpu::Min>);
}

}  // namespace stoker::kernels::scan::STOKER_ISA
