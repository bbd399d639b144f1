#include <cmath>
#include <utility>

#include "stoker/kernels/reduce/passes.hpp"
#include "stoker/kernels/reduce/steps.hpp"

namespace stoker::kernels::reduce::STOKER_ISA {
namespace {

// Elements that pay for a slice.
constexpr std::size_t grain = std::size_t{64} << 10;

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

/// `n` ≤ result_block columns of `rows` rows, with `chain` for memory.
template <class Op, class A>
void sum_columns(const cpu::Stored<A>& x, std::size_t inner, std::size_t rows, std::size_t n,
                 A* sums, A* chain) {
  reduce_columns<Op>(rows, n, sums, chain, [&](std::size_t row, std::size_t count, A* to) {
    cpu::accumulate_columns<Op>(x.at(row * inner), inner, count, n, to);
  });
}

/// As sum_columns() for whole rows of few elements: several of them are taken as one long row.
template <class Op, class A>
void sum_narrow(const cpu::Stored<A>& x, std::size_t inner, std::size_t rows, A* sums, A* wide,
                A* chain) {
  const std::size_t together = result_block / 4 / inner;
  const std::size_t width = together * inner;
  sum_columns<Op>(x, width, rows / together, width, wide, chain);
  const std::size_t left = rows % together * inner;
  cpu::accumulate_columns<Op>(x.at(rows * inner - left), width, left > 0 ? 1 : 0, left, wide);
  fold<Op>(wide, together, inner, sums);
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
  Shares shares;
  std::size_t work;  // bytes into the scratch memory: each slice's blocks

  /// Three blocks: results, wide rows, chains.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    const std::size_t widest =
        pass.inner == 1 ? shares.columns : std::max(shares.columns, result_block / 4);
    return (widest * sizeof(A) + 63) / 64 * 64;
  }

  void operator()(const CpuArgs& args, std::uint32_t index) const {
    cpu::Stored<A> x = kind;
    x.data = from_scratch ? args.scratch + source : args.in<std::byte>(0);
    void* y = to_scratch ? static_cast<void*>(args.scratch + target) : args.outputs[0];
    const SliceRange range = slice_range(shares.units, shares.slices, index, 1);
    for (std::size_t unit = range.begin; unit < range.end; ++unit)
      run(x, y, unit, args.scratch + work + index * 3 * block_bytes());
  }

 private:
  void run(const cpu::Stored<A>& x, void* y, std::size_t unit, std::byte* memory) const {
    auto* sums = reinterpret_cast<A*>(memory);
    auto* wide = reinterpret_cast<A*>(memory + block_bytes());
    auto* chain = reinterpret_cast<A*>(memory + 2 * block_bytes());
    if (pass.inner == 1) {
      const std::size_t first = unit * shares.columns;
      const std::size_t n = std::min(shares.columns, pass.results() - first);
      reduce_rows<Op>(x, pass, first, n, sums);
      finish(sums, n, count, y, first);
      return;
    }
    const ColumnBlock block = pass.block(unit, shares.columns);
    const cpu::Stored<A> from = x.at(block.first);
    if (pass.inner <= narrow_inner && block.rows > 1)
      sum_narrow<Op>(from, pass.inner, block.rows, sums, wide, chain);
    else
      sum_columns<Op>(from, pass.inner, block.rows, block.n, sums, chain);
    finish(sums, block.n, count, y, block.result);
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
  const Shares shares{pass, grain};
  const Body<Op, A> body{pass,
                         kind,
                         finish,
                         count,
                         route.from_scratch,
                         route.to_scratch,
                         route.source,
                         route.target,
                         shares,
                         plan.scratch_bytes};
  plan.scratch_bytes += shares.slices * 3 * body.block_bytes();
  plan.stages.push_back({shares.slices, body});
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
      elements += static_cast<double>(pass.elements());
      route.source = route.target;
      route.from_scratch = true;
      step.reduced = static_cast<std::int64_t>(pass.pieces);
      kind = cpu::stored<Op, A, A>();
    }
  }
  plan.cost_ns = 100 + elements * 0.1;
  return plan;
}

template <Operation operation>
Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const std::vector<bool> reduced, reduced_axes("reduce", call));
  const Steps all = steps(call.shape(), reduced);
  return visit_dtype(call.dtype(), [&]<class T>() {
    using S = cpu::Compute<T>;
    return plan_types<operation, T, S>(all.count, [&]<class Op, class A, class D>(double count) {
      return make_passes<Op, A>(all, count, cpu::stored<Op, A, T>(), &finish<A, D>);
    });
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
