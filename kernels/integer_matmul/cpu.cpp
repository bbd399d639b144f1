#include "stoker/kernels/integer_matmul/dots.hpp"
#include "stoker/kernels/integer_matmul/lines.hpp"
#include "stoker/kernels/integer_matmul/onednn.hpp"

namespace stoker::kernels::integer_matmul::STOKER_ISA {
namespace {

/// Copies line `line`, counted through all matrices, without its zero point.
void widen(const Side& side, const CpuArgs& args, const Lines& lines, std::int64_t k,
           std::int64_t line, std::int16_t* to) noexcept {
  const std::int64_t in_matrix = line % lines.count;
  const std::int64_t first = line / lines.count * lines.count * k + in_matrix * lines.line_step;
  const int zero = zero_of(side, args, in_matrix);
  const auto copy = [&](const auto* from) {
    for (std::int64_t t = 0; t < k; ++t)
      to[t] = static_cast<std::int16_t>(from[first + t * lines.step] - zero);
  };
  side.is_signed ? copy(args.in<std::int8_t>(side.input)) : copy(args.in<std::uint8_t>(side.input));
}

CpuPlan own_plan(const Problem& problem) {
  const matmul::Problem& p = problem.product;
  const std::int64_t a_lines = p.a_matrices * p.m, b_lines = p.b_matrices * p.n;
  const std::size_t b_at = aligned(static_cast<std::size_t>(a_lines * p.k) * sizeof(std::int16_t));
  CpuPlan plan;
  plan.scratch_bytes = b_at + static_cast<std::size_t>(b_lines * p.k) * sizeof(std::int16_t);
  const auto lines = static_cast<std::size_t>(a_lines + b_lines);
  const auto copies = static_cast<std::uint32_t>(std::min<std::size_t>(
      lines, slice_count(lines * static_cast<std::size_t>(p.k), std::size_t{64} << 10)));
  plan.stages.push_back(
      {copies, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(lines, copies, index, 1);
         for (auto i = static_cast<std::int64_t>(range.begin);
              i < static_cast<std::int64_t>(range.end); ++i) {
           const bool is_a = i < a_lines;
           auto* const to = reinterpret_cast<std::int16_t*>(args.scratch + (is_a ? 0 : b_at));
           const std::int64_t line = is_a ? i : i - a_lines;
           widen(is_a ? problem.a : problem.b, args, is_a ? Lines::of_a(p) : Lines::of_b(p), p.k,
                 line, to + line * p.k);
         }
       }});
  const auto rows = static_cast<std::size_t>(p.batches * p.m);
  // A row may be long, and alone.
  const std::int64_t blocks = p.batches * p.m >= 64 ? 1 : (p.n + 255) / 256;
  const std::size_t units = rows * static_cast<std::size_t>(blocks);
  const auto slices = static_cast<std::uint32_t>(std::min<std::size_t>(
      units, slice_count(static_cast<std::size_t>(p.work()), std::size_t{1} << 19)));
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const auto* const a = reinterpret_cast<const std::int16_t*>(args.scratch);
         const auto* const b = reinterpret_cast<const std::int16_t*>(args.scratch + b_at);
         const SliceRange range = slice_range(units, slices, index, 1);
         for (auto unit = static_cast<std::int64_t>(range.begin);
              unit < static_cast<std::int64_t>(range.end); ++unit) {
           const std::int64_t row = unit / blocks, batch = row / p.m;
           const std::int64_t first = unit % blocks * p.n / blocks;
           const std::int64_t last = (unit % blocks + 1) * p.n / blocks;
           const auto [of_a, of_b] = p.matrices(batch);
           std::uint32_t* const to = args.out<std::uint32_t>() + row * p.n + first;
           std::fill_n(to, last - first, 0U);
           add_dots(a + (of_a * p.m + row % p.m) * p.k, b + (of_b * p.n + first) * p.k, p.k, p.k,
                    last - first, to);
         }
       }});
  return plan;
}

CpuPlan plan_of(const Problem& problem) {
  // Below, a call of the library for each batch costs more than it gains.
  constexpr double small = 1 << 15;
  const bool is_small =
      problem.product.work() / static_cast<double>(problem.product.batches) < small;
  if (is_library_exact() && !is_small)
    if (auto plan = onednn_plan(problem)) return *std::move(plan);
  return own_plan(problem);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Problem problem = describe(call);
  const double work = problem.product.work();
  CpuPlan made;
  if (problem.product.k == 0) {
    made.stages.push_back({1, [bytes = outputs[0].bytes()](const CpuArgs& args, std::uint32_t) {
                             std::fill_n(args.out<std::byte>(), bytes, std::byte{0});
                           }});
    return made;
  }
  made = plan_of(problem);
  made.cost_ns = work * 0.01 + 500;
  return made;
}

}  // namespace

void implement(CpuTable& table) { table.set("integer_matmul", &plan); }

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
