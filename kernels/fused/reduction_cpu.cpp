#include <numeric>
#include <utility>

#include "stoker/kernels/fused/evaluator.hpp"
#include "stoker/kernels/fused/reduction.hpp"
#include "stoker/kernels/reduce/passes.hpp"
#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::fused::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace scalar = stoker::kernels::scalar::STOKER_ISA;
using namespace reduce::STOKER_ISA;
using reduce::Operation;

// Elements of the long row as which several narrow ones are taken.
constexpr std::size_t narrow_width = 1024;
// Units of work that keep the threads of a large machine busy. A fixed number: the order of a sum
// must not depend on the machine.
constexpr std::size_t enough_units = 64;
// Elements that pay for a slice of what lies in memory.
constexpr std::size_t memory_grain = std::size_t{64} << 10;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
constexpr std::size_t lines(std::size_t bytes) { return ceil_div(bytes, 64) * 64; }

/// Pieces are wanted where the results alone do not feed enough threads. Their length is a multiple of
/// every block, so that blocks begin where the schedule wants them.
Pass cut(const reduce::Step& step, std::size_t grain) {
  Pass pass{static_cast<std::size_t>(step.outer), static_cast<std::size_t>(step.reduced),
            static_cast<std::size_t>(step.inner), 1, static_cast<std::size_t>(step.reduced)};
  const std::size_t across = std::min(pass.inner, result_block);
  const std::size_t independent = pass.outer * ceil_div(pass.inner, result_block);
  const std::size_t wanted = std::min(ceil_div(enough_units, std::max<std::size_t>(independent, 1)),
                                      pass.reduced * across / grain);
  if (wanted <= 1) return pass;
  const std::size_t unit = pass.inner == 1 ? 1024 : 4;
  pass.length = ceil_div(ceil_div(pass.reduced, wanted), unit) * unit;
  pass.pieces = ceil_div(pass.reduced, pass.length);
  return pass;
}

/// Elements in the order of the reduction, a block at a time: of a program, computed into a tile, or of
/// partial results, where they lie. One for each slice.
template <class A> class Source {
 public:
  Source(const Evaluator* program, const CpuArgs& args, const cpu::Stored<A>& stored,
         std::byte* registers)
      : program_{program}, inputs_{args.inputs}, stored_{stored}, registers_{registers} {
    if (program_) program_->begin({inputs_, nullptr, nullptr}, registers_);
  }

  [[nodiscard]] bool computes() const noexcept { return program_ != nullptr; }
  /// Elements [first, first + n), in `tile` if they are computed; the block at `next` is fetched.
  cpu::Stored<A> block(std::size_t first, std::size_t n, std::size_t next,
                       std::byte* tile) const noexcept {
    if (!program_) return stored_.at(first);
    void* const out[1] = {tile};
    program_->evaluate({inputs_, out, nullptr}, registers_, first, n, next);
    return in(tile);
  }
  /// What block() left in a tile.
  cpu::Stored<A> in(const std::byte* tile) const noexcept {
    return {tile, stored_.bytes, stored_.convert};
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return stored_.bytes; }

 private:
  const Evaluator* program_;
  const void* const* inputs_;
  cpu::Stored<A> stored_;
  std::byte* registers_;
};

/// Where a pass reads, if it is not the first one, and writes: bytes into the scratch memory.
struct Route {
  bool to_scratch = false;
  std::size_t source = 0;
  std::size_t target = 0;
};

template <class Op, class A> struct Body {
  Pass pass;
  cpu::Stored<A> kind;                       // of the elements; where they lie is found in each run
  std::shared_ptr<const Evaluator> program;  // null: the pass reads scratch memory
  Finish<A> finish;
  double count;
  Route route;
  Shares shares;
  std::size_t block = narrow_width;  // elements at a time
  std::size_t work = 0;              // bytes into the scratch memory: each slice's memory

  /// Results, wide rows, chains; then the tile, four blocks, and the registers.
  [[nodiscard]] std::size_t results_bytes() const noexcept {
    return lines(std::max(shares.columns, narrow_width) * sizeof(A));
  }
  [[nodiscard]] std::size_t slice_bytes() const noexcept {
    return 3 * results_bytes() + lines(4 * block * kind.bytes) +
           (program ? lines(program->plan().register_bytes) : 0);
  }

  void operator()(const CpuArgs& args, std::uint32_t index) const {
    std::byte* const memory = args.scratch + work + index * slice_bytes();
    std::byte* const tile = memory + 3 * results_bytes();
    cpu::Stored<A> stored = kind;
    stored.data = args.scratch + route.source;
    const Slice slice{Source<A>{program.get(), args, stored, tile + lines(4 * block * kind.bytes)},
                      reinterpret_cast<A*>(memory), reinterpret_cast<A*>(memory + results_bytes()),
                      reinterpret_cast<A*>(memory + 2 * results_bytes()), tile};
    void* to = route.to_scratch ? static_cast<void*>(args.scratch + route.target) : args.outputs[0];
    const SliceRange range = slice_range(shares.units, shares.slices, index, 1);
    for (std::size_t unit = range.begin; unit < range.end; ++unit) run(slice, to, unit);
  }

 private:
  struct Slice {
    Source<A> source;
    A* sums;
    A* wide;
    A* chain;
    std::byte* tile;
  };

  void run(const Slice& slice, void* to, std::size_t unit) const {
    if (pass.inner == 1) {
      const std::size_t first = unit * shares.columns;
      const std::size_t n = std::min(shares.columns, pass.results() - first);
      reduce_rows(slice, first, n);
      finish(slice.sums, n, count, to, first);
      return;
    }
    const ColumnBlock columns = pass.block(unit, shares.columns);
    if (pass.inner <= narrow_inner && columns.rows > 1)
      sum_narrow(slice, columns.first, columns.rows);
    else
      sum_columns(slice, columns.first, pass.inner, columns.rows, columns.n, slice.sums);
    finish(slice.sums, columns.n, count, to, columns.result);
  }

  /// Result r is (outer, piece) = (r / pieces, r % pieces).
  void reduce_rows(const Slice& slice, std::size_t first, std::size_t n) const {
    if (pass.pieces == 1 && pass.reduced > 0 && pass.reduced <= block)
      return reduce_short_rows(slice, first, n);
    using Wide = cpu::Total<Op, A>;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t begin = (first + k) % pass.pieces * pass.length;
      const std::size_t length = std::min(pass.length, pass.reduced - begin);
      const std::size_t row = (first + k) / pass.pieces * pass.reduced + begin;
      auto total = static_cast<Wide>(Op::template identity<A>());
      for (std::size_t i = 0; i < length; i += block) {
        const std::size_t m = std::min(block, length - i);
        const cpu::Stored<A> x = slice.source.block(row + i, m, row + i + m, slice.tile);
        total = Op::combine(total, static_cast<Wide>(cpu::accumulate<Op>(x, m)));
      }
      slice.sums[k] = static_cast<A>(total);
    }
  }

  /// Several in one block.
  void reduce_short_rows(const Slice& slice, std::size_t first, std::size_t n) const {
    const std::size_t together = block / pass.reduced;
    for (std::size_t k = 0; k < n; k += together) {
      const std::size_t rows = std::min(together, n - k);
      const std::size_t m = rows * pass.reduced;
      const std::size_t at = (first + k) * pass.reduced;
      const cpu::Stored<A> x = slice.source.block(at, m, at + m, slice.tile);
      cpu::accumulate_rows<Op>(x, rows, pass.reduced, slice.sums + k, slice.wide);
    }
  }

  /// `n` ≤ result_block columns from element `first` on, of rows `inner` apart.
  void sum_columns(const Slice& slice, std::size_t first, std::size_t inner, std::size_t rows,
                   std::size_t n, A* sums) const {
    reduce_columns<Op>(rows, n, sums, slice.chain, [&](std::size_t row, std::size_t count, A* to) {
      add_rows(slice, first + row * inner, inner, count, n, to);
    });
  }

  /// Adds rows to `into`.
  void add_rows(const Slice& slice, std::size_t first, std::size_t inner, std::size_t rows,
                std::size_t n, A* into) const {
    if (!slice.source.computes()) {
      const cpu::Stored<A> x = slice.source.block(first, rows * inner, Evaluator::nothing, nullptr);
      cpu::accumulate_columns<Op>(x, inner, rows, n, into);
      return;
    }
    // Rows of few elements are computed many at a time, others by four, column block by column block.
    const std::size_t together = n == inner && n <= block / 4 ? block / n / 4 * 4 : 4;
    for (std::size_t row = 0; row < rows; row += together) {
      const std::size_t height = std::min(together, rows - row);
      const std::size_t from = first + row * inner;
      if (n == inner && height * n <= block) {
        const std::size_t m = height * n;
        const cpu::Stored<A> x = slice.source.block(from, m, from + m, slice.tile);
        cpu::accumulate_columns<Op>(x, n, height, n, into);
        continue;
      }
      for (std::size_t j = 0; j < n; j += block) {
        const std::size_t m = std::min(block, n - j);
        for (std::size_t k = 0; k < height; ++k) {
          const std::size_t at = from + k * inner + j;
          const std::size_t next = k + 1 < height ? at + inner
                                   : j + m < n    ? from + j + m
                                                  : from + height * inner;
          slice.source.block(at, m, next, slice.tile + k * block * slice.source.bytes());
        }
        cpu::accumulate_columns<Op>(slice.source.in(slice.tile), block, height, m, into + j);
      }
    }
  }

  /// As sum_columns() for whole rows of few elements: several of them are taken as one long row.
  void sum_narrow(const Slice& slice, std::size_t first, std::size_t rows) const {
    const std::size_t inner = pass.inner;
    const std::size_t together = std::min(block, narrow_width) / inner;
    const std::size_t width = together * inner;
    sum_columns(slice, first, width, rows / together, width, slice.wide);
    if (const std::size_t left = rows % together * inner; left > 0) {
      const cpu::Stored<A> x =
          slice.source.block(first + rows * inner - left, left, Evaluator::nothing, slice.tile);
      cpu::accumulate_columns<Op>(x, width, 1, left, slice.wide);
    }
    fold<Op>(slice.wide, together, inner, slice.sums);
  }
};

/// Adds the pass to the plan, and its working memory.
template <class Op, class A> void add_stage(CpuPlan& plan, Body<Op, A> body) {
  if (body.program) body.block = body.program->plan().block;
  body.work = plan.scratch_bytes;
  plan.scratch_bytes += body.shares.slices * body.slice_bytes();
  plan.stages.push_back({body.shares.slices, body});
}

/// What is planned: the values and how they are reduced.
struct Job {
  std::shared_ptr<const Evaluator> program;
  reduce::Steps all;
};

/// A is the type of sums and of partial results.
template <class Op, class A>
CpuPlan make_passes(const Job& job, double count, cpu::Stored<A> kind, Finish<A> last) {
  CpuPlan plan;
  const double ns = job.program->plan().ns_per_element;
  std::size_t grain = static_cast<std::size_t>(std::clamp(10000 / (ns + 0.1), 4096.0, 65536.0));
  plan.cost_ns = 60 + 10 * static_cast<double>(job.program->plan().steps.size()) +
                 static_cast<double>(job.program->plan().elements) * ns;
  Route route;
  bool first = true;
  for (std::size_t i = 0; i < job.all.steps.size(); ++i) {
    reduce::Step step = job.all.steps[i];
    for (bool done = false; !done;) {
      const Pass pass = cut(step, grain);
      done = pass.pieces == 1;
      route.to_scratch = !(done && i + 1 == job.all.steps.size());
      route.target = plan.scratch_bytes;
      if (route.to_scratch) plan.scratch_bytes += lines(pass.results() * sizeof(A));
      add_stage(plan, Body<Op, A>{pass, kind, first ? job.program : nullptr,
                                  route.to_scratch ? &finish<A, A> : last,
                                  route.to_scratch ? 1 : count, route, Shares{pass, grain}});
      plan.cost_ns += static_cast<double>(pass.elements()) * 0.1;
      route.source = route.target;
      step.reduced = static_cast<std::int64_t>(pass.pieces);
      first = false;
      kind = cpu::stored<Op, A, A>();
      grain = memory_grain;
    }
  }
  return plan;
}

template <Operation operation> CpuPlan plan_operation(DType dtype, const Job& job) {
  return visit_dtype(dtype, [&]<class T>() {
    using S = scalar::Element<T>;
    return plan_types<operation, T, S>(
        job.all.count, [&]<class Op, class A, class D>(double count) {
          return make_passes<Op, A>(job, count, cpu::stored<Op, A, S>(), &finish<A, D>);
        });
  });
}

/// By Operation.
constexpr CpuPlan (*planners[])(DType, const Job&) = {
    &plan_operation<Operation::sum>,     &plan_operation<Operation::max>,
    &plan_operation<Operation::min>,     &plan_operation<Operation::mean>,
    &plan_operation<Operation::product>, &plan_operation<Operation::all>,
    &plan_operation<Operation::any>,
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto& given = static_cast<const FusedReductionCall&>(call);
  const FusedReduction& reduction = given.reduction;
  Job job;
  job.all = reduce::steps(reduction.shape, reduction.reduced);
  const reduce::Step& step = job.all.steps[0];
  const auto row = static_cast<std::size_t>(step.inner == 1 ? step.reduced : step.inner);
  STOKER_ASSIGN(job.program, make_evaluator(make_tile_schedule(in_chains(given.program), row)));
  const DType dtype = given.program.dtypes()[given.program.outputs[0]];
  return planners[static_cast<std::size_t>(reduction.operation)](dtype, job);
}

}  // namespace

void implement_reductions(CpuTable& table) { table.set(reduction_planner_name, &plan); }

}  // namespace stoker::kernels::fused::STOKER_ISA
