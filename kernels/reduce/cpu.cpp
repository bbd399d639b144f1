#include <cmath>
#include <utility>

#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/reduce/steps.hpp"

namespace stoker::kernels::reduce::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

// The widest block of columns (or rows) that one unit of work reduces: its sums stay in the cache.
constexpr std::size_t result_block = 4096;
// Rows whose sums are added up before they join the total, which bounds the length of a chain.
constexpr std::size_t rows_per_chain = 256;
// Elements that pay for a slice.
constexpr std::size_t grain = std::size_t{64} << 10;

/// A step whose reduced axis is cut into pieces: [outer, pieces × length, inner] to
/// [outer, pieces, inner].
struct Pass {
  std::size_t outer;
  std::size_t reduced;
  std::size_t inner;
  std::size_t pieces;
  std::size_t length;

  [[nodiscard]] std::size_t results() const noexcept { return outer * pieces * inner; }
};

Pass cut(const Step& step) {
  Pass pass{static_cast<std::size_t>(step.outer), static_cast<std::size_t>(step.reduced),
            static_cast<std::size_t>(step.inner), 1, static_cast<std::size_t>(step.reduced)};
  // Pieces are wanted where the results alone do not feed every slice.
  const std::size_t slices = slice_count(pass.outer * pass.reduced * pass.inner, grain);
  const std::size_t independent = pass.outer * ((pass.inner + result_block - 1) / result_block);
  if (slices <= 1 || independent >= slices || pass.reduced < 2 * slices) return pass;
  const std::size_t wanted = (slices + independent - 1) / independent;
  pass.length = (pass.reduced + wanted - 1) / wanted;
  pass.pieces = (pass.reduced + pass.length - 1) / pass.length;
  return pass;
}

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

/// Rows of one block: result r is (outer, piece) = (r / pieces, r % pieces).
template <class Op, class A>
void reduce_rows(const cpu::Stored<A>& x, const Pass& pass, std::size_t first, std::size_t n,
                 A* sums) {
  // Short rows of one piece are taken several at a time.
  if (pass.pieces == 1 && pass.reduced > 0 && pass.reduced < cpu::block_elements / 4) {
    alignas(64) A wide[cpu::block_elements];
    const std::size_t together = x.convert ? cpu::block_elements / pass.reduced : n;
    for (std::size_t k = 0; k < n; k += together)
      cpu::accumulate_rows<Op>(x.at((first + k) * pass.reduced), std::min(together, n - k),
                               pass.reduced, sums + k, wide);
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t begin = (first + k) % pass.pieces * pass.length;
    const std::size_t length = std::min(pass.length, pass.reduced - begin);
    const std::size_t row = (first + k) / pass.pieces * pass.reduced + begin;
    sums[k] = cpu::accumulate<Op>(x.at(row), length);
  }
}

/// `n` ≤ result_block columns of `rows` rows; the chains of what rounds are cut, with `chain` for
/// memory.
template <class Op, class A>
void reduce_columns(const cpu::Stored<A>& x, std::size_t inner, std::size_t rows, std::size_t n,
                    A* sums, A* chain) {
  std::fill_n(sums, n, Op::template identity<A>());
  if (!cpu::rounds<Op, A> || rows <= rows_per_chain) {
    cpu::accumulate_columns<Op>(x, inner, rows, n, sums);
    return;
  }
  for (std::size_t row = 0; row < rows; row += rows_per_chain) {
    std::fill_n(chain, n, Op::template identity<A>());
    cpu::accumulate_columns<Op>(x.at(row * inner), inner, std::min(rows_per_chain, rows - row), n,
                                chain);
    for (std::size_t j = 0; j < n; ++j) sums[j] = Op::combine(sums[j], chain[j]);
  }
}

/// As reduce_columns for whole rows of few elements: several of them are taken as one long row.
template <class Op, class A>
void reduce_narrow(const cpu::Stored<A>& x, std::size_t inner, std::size_t rows, A* sums, A* wide,
                   A* chain) {
  const std::size_t together = result_block / 4 / inner;
  const std::size_t width = together * inner;
  reduce_columns<Op>(x, width, rows / together, width, wide, chain);
  const std::size_t left = rows % together * inner;
  cpu::accumulate_columns<Op>(x.at(rows * inner - left), width, left > 0 ? 1 : 0, left, wide);
  std::copy_n(wide, inner, sums);
  for (std::size_t k = 1; k < together; ++k)
    for (std::size_t j = 0; j < inner; ++j)
      sums[j] = static_cast<A>(Op::combine(sums[j], wide[k * inner + j]));
}

template <class Op, class A> struct Body {
  Pass pass;
  cpu::Stored<A> kind;  // of the elements; where they lie is found in each run
  Finish<A> finish;
  double count;
  bool from_scratch;
  bool to_scratch;
  std::size_t source;  // bytes into the scratch memory
  std::size_t target;
  std::size_t columns;  // results of one unit of work: a block of columns, or of rows
  std::size_t units;
  std::uint32_t slices;
  std::size_t work;  // bytes into the scratch memory: each slice's blocks

  /// Three blocks: results, wide rows, chains.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    const std::size_t widest = pass.inner == 1 ? columns : std::max(columns, result_block / 4);
    return (widest * sizeof(A) + 63) / 64 * 64;
  }

  void operator()(const CpuArgs& args, std::uint32_t index) const {
    cpu::Stored<A> x = kind;
    x.data = from_scratch ? args.scratch + source : args.in<std::byte>(0);
    void* y = to_scratch ? static_cast<void*>(args.scratch + target) : args.outputs[0];
    const SliceRange range = slice_range(units, slices, index, 1);
    for (std::size_t unit = range.begin; unit < range.end; ++unit)
      run(x, y, unit, args.scratch + work + index * 3 * block_bytes());
  }

 private:
  void run(const cpu::Stored<A>& x, void* y, std::size_t unit, std::byte* memory) const {
    auto* sums = reinterpret_cast<A*>(memory);
    auto* wide = reinterpret_cast<A*>(memory + block_bytes());
    auto* chain = reinterpret_cast<A*>(memory + 2 * block_bytes());
    if (pass.inner == 1) {
      const std::size_t first = unit * columns;
      const std::size_t n = std::min(columns, pass.results() - first);
      reduce_rows<Op>(x, pass, first, n, sums);
      finish(sums, n, count, y, first);
      return;
    }
    const std::size_t blocks = (pass.inner + columns - 1) / columns;
    const std::size_t column = unit % blocks * columns;
    const std::size_t item = unit / blocks;  // (outer, piece)
    const std::size_t begin = item % pass.pieces * pass.length;
    const std::size_t rows = std::min(pass.length, pass.reduced - begin);
    const std::size_t n = std::min(columns, pass.inner - column);
    const cpu::Stored<A> from =
        x.at((item / pass.pieces * pass.reduced + begin) * pass.inner + column);
    if (pass.inner <= 64 && rows > 1)
      reduce_narrow<Op>(from, pass.inner, rows, sums, wide, chain);
    else
      reduce_columns<Op>(from, pass.inner, rows, n, sums, chain);
    finish(sums, n, count, y, item * pass.inner + column);
  }
};

/// Where the data of a pass lies.
struct Route {
  bool from_scratch = false;
  bool to_scratch = false;
  std::size_t source = 0;
  std::size_t target = 0;
};

/// Adds the pass to the plan, and its working memory.
template <class Op, class A>
void add_stage(CpuPlan& plan, const Pass& pass, const cpu::Stored<A>& kind, Finish<A> finish,
               double count, const Route& route) {
  Body<Op, A> body{
      pass,         kind, finish, count, route.from_scratch, route.to_scratch, route.source,
      route.target, 0,    0,      1,     plan.scratch_bytes};
  if (pass.inner == 1) {
    const std::size_t row = std::max<std::size_t>(pass.length, 1);
    body.columns = std::clamp<std::size_t>(grain / 4 / row, 1, result_block);
    body.units = (pass.results() + body.columns - 1) / body.columns;
  } else {
    body.columns = std::min(pass.inner, result_block);
    body.units = pass.outer * pass.pieces * ((pass.inner + body.columns - 1) / body.columns);
  }
  body.slices = slice_count(pass.outer * pass.reduced * pass.inner, grain);
  body.slices = static_cast<std::uint32_t>(std::min<std::size_t>(body.slices, body.units));
  plan.scratch_bytes += body.slices * 3 * body.block_bytes();
  plan.stages.push_back({body.slices, body});
}

/// A is the type of sums and of partial results.
template <class Op, class A>
CpuPlan make_passes(const Steps& all, double count, cpu::Stored<A> kind, Finish<A> last) {
  CpuPlan plan;
  Route route;
  double elements = 0;
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    Step step = all.steps[i];
    for (bool done = false; !done;) {
      const Pass pass = cut(step);
      done = pass.pieces == 1;
      route.to_scratch = !(done && i + 1 == all.steps.size());
      route.target = plan.scratch_bytes;
      if (route.to_scratch) plan.scratch_bytes += (pass.results() * sizeof(A) + 63) / 64 * 64;
      add_stage<Op>(plan, pass, kind, route.to_scratch ? &finish<A, A> : last,
                    route.to_scratch ? 1 : count, route);
      elements += static_cast<double>(pass.outer * pass.reduced * pass.inner);
      route.source = route.target;
      route.from_scratch = true;
      step.reduced = static_cast<std::int64_t>(pass.pieces);
      kind = cpu::stored<Op, A, A>();
    }
  }
  plan.cost_ns = 100 + elements * 0.1;
  return plan;
}

/// D is the result's type, S that of the elements.
template <class Op, class A, class D, class S> CpuPlan make_plan(const Steps& all, double count) {
  return make_passes<Op, A>(all, count, cpu::stored<Op, A, S>(), &finish<A, D>);
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

template <Operation operation>
Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const std::vector<bool> reduced, reduced_axes("reduce", call));
  const Steps all = steps(call.shape(), reduced);
  const auto count = static_cast<double>(all.count);
  return visit_dtype(call.dtype(), [&]<class S>() -> CpuPlan {
    using Op = Combining<operation>;
    if constexpr (cpu::takes_truths<Op>) {
      return make_plan<Op, std::uint8_t, std::uint8_t, S>(all, 1);
    } else if constexpr (operation == Operation::max || operation == Operation::min) {
      if constexpr (std::is_same_v<S, bool>)
        return {};
      else
        return make_plan<Op, cpu::Compute<S>, S, S>(all, 1);
    } else if constexpr (std::is_floating_point_v<cpu::Compute<S>>) {
      return make_plan<Op, cpu::Compute<S>, S, S>(all, operation == Operation::mean ? count : 1);
    } else if constexpr (operation == Operation::mean) {
      return make_plan<Op, float, float, S>(all, count);
    } else {
      // Sums and products wrap, so signed ones are formed unsigned.
      using Result = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;
      return make_plan<Op, Result, Result, S>(all, 1);
    }
  });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("reduce_sum", &plan<Operation::sum>);
  table.set("reduce_max", &plan<Operation::max>);
  table.set("reduce_min", &plan<Operation::min>);
  table.set("reduce_mean", &plan<Operation::mean>);
  table.set("reduce_product", &plan<Operation::product>);
  table.set("reduce_all", &plan<Operation::all>);
  table.set("reduce_any", &plan<Operation::any>);
}

}  // namespace stoker::kernels::reduce::STOKER_ISA
