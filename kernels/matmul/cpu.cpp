#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/blocks.hpp"
#include "stoker/kernels/matmul/finish.hpp"
#include "stoker/kernels/matmul/grid.hpp"
#include "stoker/kernels/matmul/row.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {
namespace {

/// The operands of a run, in the order of the problem.
template <class S> struct Operands {
  const S* a;
  const S* b;
  S* c;
  Operands(const Problem& p, const CpuArgs& args, const Target& target) noexcept
      : a{args.in<S>(p.swapped ? 1 : 0)},
        b{args.in<S>(p.swapped ? 0 : 1)},
        c{reinterpret_cast<S*>(target.of(args))} {}
  [[nodiscard]] const S* a_of(const Problem& p, std::int64_t batch) const noexcept {
    return a + p.matrices(batch).a * p.m * p.k;
  }
  [[nodiscard]] const S* b_of(const Problem& p, std::int64_t batch) const noexcept {
    return b + p.matrices(batch).b * p.k * p.n;
  }
  [[nodiscard]] S* c_of(const Problem& p, std::int64_t batch) const noexcept {
    return c + batch * p.m * p.n;
  }
};

template <class S> std::size_t c_bytes(const Problem& p) noexcept {
  return static_cast<std::size_t>(p.batches * p.m * p.n) * sizeof(S);
}

template <class S>
CpuPlan row_plan(const Problem& p, std::uint32_t wanted, std::shared_ptr<const Finish> finish) {
  using C = Compute<S>;
  CpuPlan plan;
  // The row in the compute type, one for each batch; only the 16-bit floats need it.
  if constexpr (!std::is_same_v<S, C>) {
    plan.scratch_bytes = static_cast<std::size_t>(p.a_matrices * p.k) * sizeof(C);
    plan.stages.push_back({1, [p](const CpuArgs& args, std::uint32_t) {
                             cpu::STOKER_ISA::load_block(
                                 args.in<S>(p.swapped ? 1 : 0), reinterpret_cast<C*>(args.scratch),
                                 static_cast<std::size_t>(p.a_matrices * p.k));
                           }});
  }
  // A unit is some columns of one batch.
  const std::int64_t unit = p.transpose_b ? 16 : std::min(row_columns, round_up(p.n, 64));
  const std::int64_t width =
      p.transpose_b ? unit
                    : std::clamp(round_up(p.n * p.batches / wanted, 256), std::int64_t{64}, unit);
  const std::int64_t units = (p.n + width - 1) / width;
  const auto slices = parts(units * p.batches, 1, wanted);
  const Target target{std::move(finish), plan, c_bytes<S>(p), slices};
  plan.stages.push_back(
      {slices, [p, width, units, slices, target](const CpuArgs& args, std::uint32_t index) {
         const Operands<S> run(p, args, target);
         const SliceRange range =
             slice_range(static_cast<std::size_t>(units * p.batches), slices, index, 1);
         for (std::size_t i = range.begin; i < range.end; ++i) {
           const auto batch = static_cast<std::int64_t>(i) / units;
           const std::int64_t first = static_cast<std::int64_t>(i) % units * width;
           const std::int64_t last = std::min(p.n, first + width);
           const C* x;
           if constexpr (std::is_same_v<S, C>)
             x = run.a_of(p, batch);
           else
             x = reinterpret_cast<const C*>(args.scratch) + p.matrices(batch).a * p.k;
           const S* matrix = run.b_of(p, batch);
           S* to = run.c_of(p, batch);
           if (!p.transpose_b) {
             weighted_rows(x, matrix + first, p.n, p.k, last - first, to + first);
           } else {
             std::int64_t j = first;
             for (; j + 4 <= last; j += 4) dots<4>(x, matrix + j * p.k, p.k, p.k, to + j);
             for (; j < last; ++j) dots<1>(x, matrix + j * p.k, p.k, p.k, to + j);
           }
           target.done(args, index,
                       {static_cast<std::size_t>(batch * p.n + first), 1,
                        static_cast<std::size_t>(last - first), static_cast<std::size_t>(p.n)});
         }
       }});
  return plan;
}

enum class Method {
  direct,  ///< without packing, for small matrices
  packed,
  library,  ///< oneDNN, f32 only
};

/// Whether oneDNN would read B as it lies, though its rows lie whole pages apart: they push each other out of
/// the cache, and it is half as fast as multiply(), whose copy of B pays from some rows of A on. Its rule on AVX2,
/// for products that reuse a copy little, is `nocopy_checker_avx2` of oneDNN 2.6.
bool library_misses_cache(const Problem& p) noexcept {
#if defined(__AVX512F__)
  static_cast<void>(p);
  return false;
#else
  constexpr std::int64_t page = 4096 / sizeof(float);
  constexpr std::int64_t rows_that_pay = 12;
  return !p.transpose_b && p.n % page == 0 && p.m >= rows_that_pay &&
         1.0 / static_cast<double>(p.m) + 1.0 / static_cast<double>(p.n) >= 0.0038;
#endif
}

template <class S> Method method_of(const Problem& p) noexcept {
  // Below, a call of the library costs more than its better prefetching gains; the more so beside
  // the direct way, which packs nothing. (At 128 two slices of the library are a fifth faster.)
  const double small = direct<S>(p) ? 1 << 20 : 1 << 19;
  const double each = p.work() / static_cast<double>(p.batches);
  if (std::is_same_v<S, float> && each > small && !library_misses_cache(p)) return Method::library;
  return direct<S>(p) ? Method::direct : Method::packed;
}

/// Rows of a part that are finished together: few enough that they are still in the cache, enough that
/// what each call of the library packs anew is little beside what it computes.
template <class S> std::int64_t rows_at_once(const Part& part) noexcept {
  constexpr std::int64_t second_level = std::int64_t{1} << 20;
  const std::int64_t fit =
      second_level / (static_cast<std::int64_t>(sizeof(S)) * (part.n1 - part.n0));
  return std::max<std::int64_t>(256, fit / tile_rows * tile_rows);
}

template <class S>
CpuPlan tiled_plan(const Problem& p, std::uint32_t wanted, std::shared_ptr<const Finish> finish) {
  using C = Compute<S>;
  const Method method = method_of<S>(p);
  const Grid grid = grid_of(p, wanted);
  const std::uint32_t all = grid.slices(p);
  const std::uint32_t slices = std::min(all, wanted);
  const Part first = grid.part(p, 0, tile_rows, Simd<C>::lanes);  // none is larger
  const std::int64_t each =
      method == Method::packed
          ? MultiplyScratch<S>(p.k, first.m1 - first.m0, first.n1 - first.n0).elements()
          : 0;
  const LibraryThreads threads = LibraryThreads::find();
  CpuPlan plan;
  plan.scratch_bytes = static_cast<std::size_t>(each) * slices * sizeof(C);
  const Target target{std::move(finish), plan, c_bytes<S>(p), slices};
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const Operands<S> run(p, args, target);
         const SliceRange range = slice_range(all, slices, index, 1);
         const auto compute = [&](std::int64_t batch, const Part& part) {
           const S* a = run.a_of(p, batch);
           const S* b = run.b_of(p, batch);
           S* c = run.c_of(p, batch);
           if constexpr (std::is_same_v<S, float>)
             if (method == Method::library) return sgemm(p, a, b, c, part, threads);
           if constexpr (std::is_same_v<S, C>)
             if (method == Method::direct) return multiply_directly(p, a, b, c, part);
           multiply(p, a, b, c, part, reinterpret_cast<C*>(args.scratch) + index * each);
         };
         for (auto i = static_cast<std::uint32_t>(range.begin); i < range.end; ++i) {
           const std::uint32_t parts_of_batch = grid.rows * grid.columns;
           const std::int64_t batch = i / parts_of_batch;
           const Part part = grid.part(p, i % parts_of_batch, tile_rows, Simd<C>::lanes);
           const std::int64_t rows = target.finishes() ? rows_at_once<S>(part) : part.m1 - part.m0;
           for (std::int64_t m0 = part.m0; m0 < part.m1; m0 += rows) {
             const std::int64_t m1 = std::min(part.m1, m0 + rows);
             compute(batch, {m0, m1, part.n0, part.n1});
             target.done(
                 args, index,
                 {static_cast<std::size_t>((batch * p.m + m0) * p.n + part.n0),
                  static_cast<std::size_t>(m1 - m0), static_cast<std::size_t>(part.n1 - part.n0),
                  static_cast<std::size_t>(p.n)});
           }
         }
       }});
  return plan;
}

/// Whether the sum of each element is cut into parts: where C is small beside B. A thread then reads whole
/// rows of B, and in training that is where it left them: the weight's gradient is shared out by rows, too.
/// (Cut by columns, half of what a thread reads is in the other's cache, and a step of 784-128-10 takes a
/// tenth longer.)
bool cuts_depth(const Problem& p) noexcept {
  return p.batches == 1 && !p.transpose_b && p.k >= 512 && p.m * 8 <= p.k &&
         method_of<float>(p) == Method::library;
}

/// The number of parts does not depend on the machine, as sums would then.
CpuPlan deep_plan(const Problem& p, std::uint32_t wanted, std::shared_ptr<const Finish> finish) {
  constexpr std::uint32_t cuts = 4;
  const auto elements = static_cast<std::size_t>(p.m * p.n);
  const std::uint32_t columns = parts(p.n, 2 * tile_columns<float>, (wanted + cuts - 1) / cuts);
  const std::uint32_t units = cuts * columns;
  const std::uint32_t slices = wanted == 1 ? 1 : units;
  const std::uint32_t finishing = parts(p.m, tile_rows, wanted);
  const LibraryThreads threads = LibraryThreads::find();
  Problem right;  // B, whose parts are shared out
  right.m = p.k;
  right.n = p.n;
  CpuPlan plan;
  plan.scratch_bytes = cuts * elements * sizeof(float);
  const Target target{std::move(finish), plan, c_bytes<float>(p), finishing};
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const Operands<float> run(p, args, target);
         auto* const sums = reinterpret_cast<float*>(args.scratch);
         const SliceRange range = slice_range(units, slices, index, 1);
         for (std::size_t i = range.begin; i < range.end; ++i) {
           const std::size_t cut = i / columns;
           const Part part = Grid{cuts, columns}.part(right, i, tile_rows, Simd<float>::lanes);
           sgemm(p, run.a, run.b, sums + cut * elements, {0, p.m, part.n0, part.n1},
                 {part.m0, part.m1}, threads);
         }
       }});
  plan.stages.push_back({finishing, [=](const CpuArgs& args, std::uint32_t index) {
                           float* const c = Operands<float>(p, args, target).c;
                           const auto* const sums = reinterpret_cast<const float*>(args.scratch);
                           const auto n = static_cast<std::size_t>(p.n);
                           const SliceRange rows = slice_range(static_cast<std::size_t>(p.m),
                                                               finishing, index, tile_rows);
                           static_assert(cuts == 4);
#pragma GCC ivdep
                           for (std::size_t i = rows.begin * n; i < rows.end * n; ++i)
                             c[i] = (sums[i] + sums[elements + i]) +
                                    (sums[2 * elements + i] + sums[3 * elements + i]);
                           target.done(args, index, {rows.begin * n, rows.end - rows.begin, n, n});
                         }});
  return plan;
}

template <class S> CpuPlan plan_for(const Problem& p, std::shared_ptr<const Finish> finish) {
  if (p.k == 0) {  // never of one that is finished
    CpuPlan plan;
    plan.stages.push_back({1, [bytes = c_bytes<S>(p)](const CpuArgs& args, std::uint32_t) {
                             std::fill_n(args.out<std::byte>(), bytes, std::byte{0});
                           }});
    return plan;
  }
  if (p.m == 1)
    return row_plan<S>(p, slice_count(static_cast<std::size_t>(p.work()), 1 << 17),
                       std::move(finish));
  if constexpr (std::is_same_v<S, float>)
    if (cuts_depth(p)) return deep_plan(p, wanted_slices(p.work()), std::move(finish));
  return tiled_plan<S>(p, wanted_slices(p.work()), std::move(finish));
}

// Signed integers are multiplied as unsigned ones: the bits are the same, and overflow wraps.
CpuPlan plan_of(DType dtype, const Problem& p, std::shared_ptr<const Finish> finish) {
  switch (dtype) {
    case DType::f64: return plan_for<double>(p, std::move(finish));
    case DType::f16: return plan_for<Half>(p, std::move(finish));
    case DType::bf16: return plan_for<BFloat16>(p, std::move(finish));
    case DType::s64: return plan_for<std::uint64_t>(p, std::move(finish));
    case DType::s32:
    case DType::u32: return plan_for<std::uint32_t>(p, std::move(finish));
    default: return plan_for<float>(p, std::move(finish));
  }
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return plan_finished(call.dtype(), describe(call), nullptr);
}

}  // namespace

CpuPlan plan_finished(DType dtype, const Problem& problem, std::shared_ptr<const Finish> finish) {
  CpuPlan result = plan_of(dtype, problem, std::move(finish));
  // Lanes of one AVX2 core, or the memory that a single row has to read.
  result.cost_ns = problem.m == 1 ? problem.work() * 0.3 + 50 : problem.work() * 0.015 + 50;
  return result;
}

void implement(CpuTable& table) { table.set("matmul", plan); }

}  // namespace stoker::kernels::matmul::STOKER_ISA
