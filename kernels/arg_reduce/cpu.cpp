#include <type_traits>

#include "stoker/kernels/arg_reduce/options.hpp"
#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/rows/axis_rows.hpp"

namespace stoker::kernels::arg_reduce::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

// Columns that are searched together, and elements of a row whose extreme is found before its place.
constexpr std::size_t column_block = 1024;
constexpr std::size_t search_block = 1024;
constexpr std::size_t place_block = 64;
// Elements that pay for a slice.
constexpr std::size_t grain = std::size_t{64} << 10;

struct Problem {
  std::size_t outer;
  std::size_t length;
  std::size_t inner;
  std::size_t blocks;  // of columns
  std::size_t piece;   // positions of a piece
  std::size_t pieces;

  [[nodiscard]] std::size_t units() const noexcept { return outer * pieces * blocks; }
};

/// Bools are compared as bytes.
template <class T> using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T> inline cpu::Compute<T> value(const T& element) noexcept {
  return static_cast<cpu::Compute<T>>(element);
}

template <class C> inline bool is_nan(C v) noexcept { return v != v; }

/// Whether `v`, met after `best`, takes its place.
template <class Op, bool Last, class C> inline bool replaces(C v, C best) noexcept {
  constexpr bool largest = std::is_same_v<Op, cpu::Max>;
  bool better;
  if constexpr (Last)
    better = largest ? v >= best : v <= best;
  else
    better = largest ? v > best : v < best;
  if constexpr (std::is_floating_point_v<C>) better |= is_nan(v) & !is_nan(best);
  return better;
}

/// The first (or last) position in x[0, n) of `wanted`, which is there; NaN is equal to NaN.
template <bool Last, class T>
std::size_t place_of(const T* x, std::size_t n, cpu::Compute<T> wanted) noexcept {
  const auto match = [wanted](const T& element) {
    const cpu::Compute<T> v = value(element);
    return (v == wanted) | (is_nan(v) & is_nan(wanted));
  };
  // Whole blocks are passed over in vectors.
  std::size_t done = 0;
  for (; done + place_block <= n; done += place_block) {
    const T* part = x + (Last ? n - done - place_block : done);
    unsigned found = 0;
    for (std::size_t k = 0; k < place_block; ++k) found |= match(part[k]) ? 1U : 0U;
    if (found != 0) break;
  }
  std::size_t i = Last ? n - done - 1 : done;
  while (!match(x[i])) Last ? --i : ++i;
  return i;
}

/// The position in x[0, n) of the extreme. Finds the extreme of a block in vectors, and its place
/// only if the block beats what came before.
template <class Op, bool Last, class T> std::size_t search_row(const T* x, std::size_t n) noexcept {
  using C = cpu::Compute<T>;
  std::size_t at = 0;
  C best = value(x[0]);
  for (std::size_t first = 0; first < n && !is_nan(best); first += search_block) {
    const std::size_t count = std::min(search_block, n - first);
    const C extreme = cpu::accumulate<Op, C>(x + first, count);
    if (!replaces<Op, Last>(extreme, best) && first > 0) continue;
    best = extreme;
    // Of NaN the first counts, whatever the rule for equals.
    at = first + (Last && !is_nan(extreme) ? place_of<true>(x + first, count, extreme)
                                           : place_of<false>(x + first, count, extreme));
  }
  return at;
}

/// The positions of the extremes of `n` columns of `rows` rows, counted from `first`.
template <class Op, bool Last, class T>
void search_columns(const T* x, std::size_t stride, std::size_t first, std::size_t rows,
                    std::size_t n, std::int32_t* at) noexcept {
  using C = cpu::Compute<T>;
  alignas(64) C best[column_block];
  alignas(64) C buffer[std::is_same_v<T, C> ? 1 : column_block];
  cpu::load_block(x, best, n);
  std::fill_n(at, n, static_cast<std::int32_t>(first));
  for (std::size_t i = 1; i < rows; ++i) {
    const C* row = cpu::loaded(x + i * stride, buffer, n);
    const auto here = static_cast<std::int32_t>(first + i);
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) {
      const bool takes = replaces<Op, Last>(row[j], best[j]);
      at[j] = takes ? here : at[j];
      best[j] = takes ? row[j] : best[j];
    }
  }
}

template <class Op, bool Last, class T>
void search_unit(const Problem& p, std::size_t unit, const T* x, std::int32_t* results) noexcept {
  const std::size_t column = unit % p.blocks * column_block;
  const std::size_t columns = std::min(column_block, p.inner - column);
  const std::size_t item = unit / p.blocks;  // (outer, piece)
  const std::size_t begin = item % p.pieces * p.piece;
  const std::size_t rows = std::min(p.piece, p.length - begin);
  const T* from = x + (item / p.pieces * p.length + begin) * p.inner + column;
  std::int32_t* at = results + item * p.inner + column;
  if (p.inner == 1)
    *at = static_cast<std::int32_t>(begin + search_row<Op, Last>(from, rows));
  else
    search_columns<Op, Last>(from, p.inner, begin, rows, columns, at);
}

/// Of the pieces' extremes, the one that counts. Pieces are met in order, as elements are.
template <class Op, bool Last, class T>
void choose(const Problem& p, const T* x, const std::int32_t* found, std::int32_t* results) {
  for (std::size_t outer = 0; outer < p.outer; ++outer)
    for (std::size_t column = 0; column < p.inner; ++column) {
      const auto element = [&](std::int32_t at) {
        return value(x[(outer * p.length + static_cast<std::size_t>(at)) * p.inner + column]);
      };
      std::int32_t best = found[outer * p.pieces * p.inner + column];
      for (std::size_t piece = 1; piece < p.pieces; ++piece) {
        const std::int32_t at = found[(outer * p.pieces + piece) * p.inner + column];
        if (replaces<Op, Last>(element(at), element(best))) best = at;
      }
      results[outer * p.inner + column] = best;
    }
}

template <class Op, bool Last, class T> CpuPlan make_plan(Problem p) {
  const std::size_t elements = p.outer * p.length * p.inner;
  std::uint32_t slices = slice_count(elements, grain);
  if (p.units() < slices && p.length >= 2 * slices) {
    const std::size_t wanted = (slices + p.units() - 1) / p.units();
    p.piece = (p.length + wanted - 1) / wanted;
    p.pieces = (p.length + p.piece - 1) / p.piece;
  }
  slices = static_cast<std::uint32_t>(std::min<std::size_t>(slices, p.units()));
  const bool cut = p.pieces > 1;
  CpuPlan plan;
  plan.cost_ns = 100 + static_cast<double>(elements) * (p.inner == 1 ? 0.1 : 0.3);
  if (cut) plan.scratch_bytes = p.outer * p.pieces * p.inner * sizeof(std::int32_t);
  const auto found = [](const CpuArgs& args) {
    return reinterpret_cast<std::int32_t*>(args.scratch);
  };
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(p.units(), slices, index, 1);
                           std::int32_t* to = cut ? found(args) : args.out<std::int32_t>();
                           for (std::size_t unit = range.begin; unit < range.end; ++unit)
                             search_unit<Op, Last>(p, unit, args.in<T>(0), to);
                         }});
  if (cut)
    plan.stages.push_back({1, [=](const CpuArgs& args, std::uint32_t) {
                             choose<Op, Last>(p, args.in<T>(0), found(args),
                                              args.out<std::int32_t>());
                           }});
  return plan;
}

template <class Op> Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto given = options::from<Argmax>(call.params);  // argmin has the same options
  STOKER_ASSIGN(const rows::AxisRows r, rows::along("arg_reduce", call, given.axis));
  Problem p{static_cast<std::size_t>(r.outer),  static_cast<std::size_t>(r.length),
            static_cast<std::size_t>(r.inner),  1,
            static_cast<std::size_t>(r.length), 1};
  p.blocks = (p.inner + column_block - 1) / column_block;
  const bool last = given.tie_break == TieBreak::high;
  return visit_dtype(call.dtype(), [&]<class T>() {
    return last ? make_plan<Op, true, Stored<T>>(p) : make_plan<Op, false, Stored<T>>(p);
  });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("argmax", &plan<cpu::Max>);
  table.set("argmin", &plan<cpu::Min>);
}

}  // namespace stoker::kernels::arg_reduce::STOKER_ISA
