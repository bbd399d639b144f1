#include "stoker/kernels/integer_matmul/dots.hpp"
#include "stoker/kernels/integer_matmul/igemm.hpp"
#include "stoker/kernels/integer_matmul/problem.hpp"
#include "stoker/kernels/matmul/grid.hpp"

namespace stoker::kernels::integer_matmul::STOKER_ISA {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// What is subtracted from line `line` of an operand.
int zero_of(const Side& side, const CpuArgs& args, std::int64_t line) noexcept {
  if (side.zeros == 0) return 0;
  const std::int64_t at = line % side.zeros;
  return side.is_signed ? args.in<std::int8_t>(side.zeros_input)[at]
                        : args.in<std::uint8_t>(side.zeros_input)[at];
}

// Our own loops ------------------------------------------------------------------------------------

/// Lines of an operand along k.
struct Lines {
  std::int64_t count;  ///< of one matrix
  std::int64_t line_step, step;

  static Lines of_a(const matmul::Problem& p) noexcept {
    return {p.m, p.a_row_step(), p.a_column_step()};
  }
  static Lines of_b(const matmul::Problem& p) noexcept {
    return {p.n, p.transpose_b ? p.k : 1, p.transpose_b ? 1 : p.n};
  }
};

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

// oneDNN's -------------------------------------------------------------------------------------------

/// The library takes right sides of s8 only: u8 less 128, bit for bit another sign.
constexpr int flip = 128;

/// A product that oneDNN computes with one zero point for each side, those of the first lines. What other lines have
/// beside that is subtracted afterwards: with d and e the differences of row i and column j,
///     sum of (a - d)(b - e) = sum of a·b - d · sum of b - e · sum of a + k·d·e.
struct LibraryProduct {
  Problem problem;
  mm::LibraryThreads threads = mm::LibraryThreads::find();
  std::size_t sums_at = 0;  ///< scratch: sums of the columns of a part, for each slice
  std::size_t sums_bytes = 0;

  [[nodiscard]] const matmul::Problem& product() const noexcept { return problem.product; }
  [[nodiscard]] bool is_flipped() const noexcept { return !problem.b.is_signed; }
  [[nodiscard]] bool differs() const noexcept { return problem.a.zeros > 1 || problem.b.zeros > 1; }

  void run(const CpuArgs& args, std::uint32_t slice, std::int64_t batch,
           const mm::Part& part) const {
    const matmul::Problem& p = product();
    const auto [of_a, of_b] = p.matrices(batch);
    const std::byte* const right =
        is_flipped() ? args.scratch : args.in<std::byte>(problem.b.input);
    const Bytes bytes{args.in<std::byte>(problem.a.input) + of_a * p.m * p.k,
                      problem.a.is_signed,
                      zero_of(problem.a, args, 0),
                      reinterpret_cast<const std::int8_t*>(right) + of_b * p.k * p.n,
                      zero_of(problem.b, args, 0) - (is_flipped() ? flip : 0),
                      args.out<std::int32_t>() + batch * p.m * p.n};
    igemm(p, bytes, part, threads);
    if (differs())
      correct(args, bytes, part,
              reinterpret_cast<std::uint32_t*>(args.scratch + sums_at + slice * sums_bytes));
  }

 private:
  void correct(const CpuArgs& args, const Bytes& of, const mm::Part& part,
               std::uint32_t* column_sums) const noexcept {
    const matmul::Problem& p = product();
    const Lines rows = Lines::of_a(p), columns = Lines::of_b(p);
    const auto n = static_cast<std::size_t>(part.n1 - part.n0);
    for (std::size_t j = 0; j < n; ++j) {
      const std::int8_t* const from =
          of.b + (part.n0 + static_cast<std::int64_t>(j)) * columns.line_step;
      std::int64_t sum = -p.k * of.b_zero;
      for (std::int64_t t = 0; t < p.k; ++t) sum += from[t * columns.step];
      column_sums[j] = static_cast<std::uint32_t>(sum);
    }
    const int a_zero = of.a_zero, b_zero = zero_of(problem.b, args, 0);
    for (std::int64_t i = part.m0; i < part.m1; ++i) {
      const std::byte* const from = of.a + i * rows.line_step;
      std::int64_t sum = -p.k * a_zero;
      for (std::int64_t t = 0; t < p.k; ++t)
        sum += of.is_signed ? static_cast<std::int8_t>(from[t * rows.step])
                            : static_cast<std::uint8_t>(from[t * rows.step]);
      const auto row_sum = static_cast<std::uint32_t>(sum);
      const auto d = static_cast<std::uint32_t>(zero_of(problem.a, args, i) - a_zero);
      auto* const to = reinterpret_cast<std::uint32_t*>(of.c) + i * p.n + part.n0;
      for (std::size_t j = 0; j < n; ++j) {
        const auto e = static_cast<std::uint32_t>(
            zero_of(problem.b, args, part.n0 + static_cast<std::int64_t>(j)) - b_zero);
        to[j] -= d * column_sums[j] + e * row_sum - static_cast<std::uint32_t>(p.k) * d * e;
      }
    }
  }
};

CpuPlan library_plan(const Problem& problem) {
  const matmul::Problem& p = problem.product;
  // A multiply-add takes a quarter of the time of one of f32.
  const std::uint32_t wanted = mm::wanted_slices(p.work() / 4);
  const mm::Grid grid = mm::grid_of(p, wanted);
  const std::uint32_t all = grid.slices(p);
  const std::uint32_t slices = std::min(all, wanted);
  LibraryProduct library{.problem = problem};
  CpuPlan plan;
  if (library.is_flipped()) {
    const auto bytes = static_cast<std::size_t>(p.b_matrices * p.k * p.n);
    plan.scratch_bytes = aligned(bytes);
    const std::uint32_t copies = slice_count(bytes, std::size_t{256} << 10);
    plan.stages.push_back(
        {copies, [bytes, copies, from = problem.b.input](const CpuArgs& args, std::uint32_t index) {
           const SliceRange range = slice_range(bytes, copies, index);
           for (std::size_t i = range.begin; i < range.end; ++i)
             args.scratch[i] = args.in<std::byte>(from)[i] ^ std::byte{flip};
         }});
  }
  library.sums_at = plan.scratch_bytes;
  if (library.differs()) library.sums_bytes = aligned(static_cast<std::size_t>(p.n) * 4);
  plan.scratch_bytes += library.sums_bytes * slices;
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(all, slices, index, 1);
         for (auto i = static_cast<std::uint32_t>(range.begin); i < range.end; ++i) {
           const std::uint32_t of_batch = grid.rows * grid.columns;
           library.run(args, index, i / of_batch, grid.part(p, i % of_batch, 16, 16));
         }
       }});
  return plan;
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
  // Below, a call of the library for each batch costs more than it gains.
  constexpr double small = 1 << 13;
  const bool is_small = work / static_cast<double>(problem.product.batches) < small;
  made = is_library_exact() && !is_small ? library_plan(problem) : own_plan(problem);
  made.cost_ns = work * 0.01 + 500;
  return made;
}

}  // namespace

void implement(CpuTable& table) { table.set("integer_matmul", &plan); }

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
