#include "stoker/kernels/integer_matmul/onednn.hpp"

#include <dnnl.hpp>
#include <memory>
#include <string_view>

#include "stoker/kernels/conv/onednn_making.hpp"
#include "stoker/kernels/integer_matmul/lines.hpp"
#include "stoker/kernels/matmul/grid.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::integer_matmul::STOKER_ISA {
namespace {

namespace mm = stoker::kernels::matmul::STOKER_ISA;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Type = dnnl::memory::data_type;

/// The library takes right sides of s8 only: u8 less 128, bit for bit another sign.
constexpr int flip = 128;

/// Some rows of one product.
struct Rows {
  std::int64_t count = 0;
  Desc a, b, c, pad;
  dnnl::matmul main;
};

/// Rows of one matrix of C, and where their operands lie.
struct Part {
  std::int64_t m0, m1;
  const std::byte* a;
  const std::int8_t* b;
  std::int32_t* c;  ///< row 0 of the matrix
};

/// A product that oneDNN computes with one zero point for each side, those of the first lines. What other lines have
/// beside that is subtracted afterwards: with d and e the differences of row i and column j,
///     sum of (a - d)(b - e) = sum of a·b - d · sum of b - e · sum of a + k·d·e.
struct Library {
  Problem problem;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  mm::LibraryThreads threads = mm::LibraryThreads::find();
  std::uint32_t cuts = 1;          ///< parts of a matrix
  std::vector<Rows> heights = {};  ///< of parts, each once
  std::size_t own_at = 0;          ///< scratch of a slice: the library's, then sums of columns
  std::size_t sums_at = 0, own_bytes = 0;

  bool prepare();
  void run(const CpuArgs& args, std::uint32_t slice, std::int64_t part) const;

  [[nodiscard]] const matmul::Problem& product() const noexcept { return problem.product; }
  [[nodiscard]] bool is_flipped() const noexcept { return !problem.b.is_signed; }
  [[nodiscard]] std::size_t flipped_bytes() const noexcept {
    const matmul::Problem& p = product();
    return is_flipped() ? static_cast<std::size_t>(p.b_matrices * p.k * p.n) : 0;
  }

 private:
  bool make(std::int64_t rows);
  void compute(const Part& part, int a_zero, int b_zero, std::byte* pad) const;
  void correct(const CpuArgs& args, const Part& part, int a_zero, int b_zero,
               std::uint32_t* column_sums) const noexcept;
  [[nodiscard]] SliceRange rows_of(std::int64_t cut) const noexcept {
    return slice_range(static_cast<std::size_t>(product().m), cuts, static_cast<std::uint32_t>(cut),
                       32);
  }
};

bool Library::make(std::int64_t rows) {
  const matmul::Problem& p = product();
  Rows made;
  made.count = rows;
  made.a = Desc({rows, p.k}, problem.a.is_signed ? Type::s8 : Type::u8,
                Dims{p.a_row_step(), p.a_column_step()});
  made.b = Desc({p.k, p.n}, Type::s8, Dims{p.transpose_b ? 1 : p.n, p.transpose_b ? p.k : 1});
  made.c = Desc({rows, p.n}, Type::s32, Dims{p.n, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (problem.a.zeros != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
  if (problem.b.zeros != 0 || is_flipped())
    attributes.set_zero_points(DNNL_ARG_WEIGHTS, 0, {DNNL_RUNTIME_S32_VAL});
  const dnnl::matmul::primitive_desc found({made.a, made.b, made.c}, attributes, engine, true);
  if (!found || std::string_view{found.impl_info_str()}.find("ref") != std::string_view::npos)
    return false;
  made.pad = found.scratchpad_desc();
  made.main = dnnl::matmul(found);
  heights.push_back(std::move(made));
  return true;
}

bool Library::prepare() {
  const mm::OneThread one(threads);
  const matmul::Problem& p = product();
  // A multiply-add takes a small part of the time of one of f32.
  const std::uint32_t wanted = mm::wanted_slices(p.work() / 8);
  cuts = mm::parts(p.m, 32, static_cast<std::int64_t>(wanted) / p.batches);
  std::size_t pad = 0;
  for (std::int64_t cut = 0; cut < cuts; ++cut) {
    const SliceRange range = rows_of(cut);
    const auto rows = static_cast<std::int64_t>(range.end - range.begin);
    const auto is_same = [&](const Rows& of) { return of.count == rows; };
    if (std::ranges::any_of(heights, is_same)) continue;
    try {
      if (!make(rows)) return false;
    } catch (const dnnl::error&) {
      return false;  // refused, so it is computed another way
    }
    pad = std::max(pad, aligned(heights.back().pad.get_size()));
  }
  own_at = aligned(flipped_bytes());
  sums_at = pad;
  const bool differs = problem.a.zeros > 1 || problem.b.zeros > 1;
  own_bytes = sums_at + (differs ? aligned(static_cast<std::size_t>(p.n) * 4) : 0);
  return true;
}

void Library::run(const CpuArgs& args, std::uint32_t slice, std::int64_t index) const {
  const matmul::Problem& p = product();
  const std::int64_t batch = index / cuts;
  const auto [of_a, of_b] = p.matrices(batch);
  const SliceRange rows = rows_of(index % cuts);
  if (rows.begin == rows.end) return;
  const std::byte* const right = is_flipped() ? args.scratch : args.in<std::byte>(problem.b.input);
  const Part part{static_cast<std::int64_t>(rows.begin), static_cast<std::int64_t>(rows.end),
                  args.in<std::byte>(problem.a.input) + of_a * p.m * p.k,
                  reinterpret_cast<const std::int8_t*>(right) + of_b * p.k * p.n,
                  args.out<std::int32_t>() + batch * p.m * p.n};
  const int a_zero = zero_of(problem.a, args);
  const int b_zero = zero_of(problem.b, args) - (is_flipped() ? flip : 0);
  std::byte* const own = args.scratch + own_at + slice * own_bytes;
  compute(part, a_zero, b_zero, own);
  if (problem.a.zeros > 1 || problem.b.zeros > 1)
    correct(args, part, a_zero, b_zero, reinterpret_cast<std::uint32_t*>(own + sums_at));
}

void Library::compute(const Part& part, int a_zero, int b_zero, std::byte* pad) const {
  const matmul::Problem& p = product();
  const auto made = std::ranges::find(heights, part.m1 - part.m0, &Rows::count);
  const ExitDelay in_library;
  if (in_library.too_late()) throw process_exits("integer_matmul");
  try {
    dnnl::stream stream{engine};
    const auto hold = [&](const Desc& desc, const void* at) {
      return dnnl::memory(desc, engine, const_cast<void*>(at));
    };
    const Desc one({1}, Type::s32, dnnl::memory::format_tag::x);
    made->main.execute(stream,
                       {{DNNL_ARG_SRC, hold(made->a, part.a + part.m0 * p.a_row_step())},
                        {DNNL_ARG_WEIGHTS, hold(made->b, part.b)},
                        {DNNL_ARG_DST, hold(made->c, part.c + part.m0 * p.n)},
                        {DNNL_ARG_SCRATCHPAD, hold(made->pad, pad)},
                        {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, hold(one, &a_zero)},
                        {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, hold(one, &b_zero)}});
    stream.wait();
  } catch (const dnnl::error& error) {
    throw Error{"integer_matmul",
                error.status == dnnl_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
                "oneDNN refused the product",
                {{"status", std::to_string(error.status)}}};
  }
}

void Library::correct(const CpuArgs& args, const Part& part, int a_zero, int b_zero,
                      std::uint32_t* column_sums) const noexcept {
  const matmul::Problem& p = product();
  const Lines rows = Lines::of_a(p), columns = Lines::of_b(p);
  for (std::int64_t j = 0; j < p.n; ++j) {
    const std::int8_t* const from = part.b + j * columns.line_step;
    std::int64_t sum = -p.k * b_zero;
    for (std::int64_t t = 0; t < p.k; ++t) sum += from[t * columns.step];
    column_sums[j] = static_cast<std::uint32_t>(sum);
  }
  const int first_b = zero_of(problem.b, args);
  for (std::int64_t i = part.m0; i < part.m1; ++i) {
    const std::byte* const from = part.a + i * rows.line_step;
    std::int64_t sum = -p.k * a_zero;
    for (std::int64_t t = 0; t < p.k; ++t)
      sum += problem.a.is_signed ? static_cast<std::int8_t>(from[t * rows.step])
                                 : static_cast<std::uint8_t>(from[t * rows.step]);
    const auto row_sum = static_cast<std::uint32_t>(sum);
    const auto d = static_cast<std::uint32_t>(zero_of(problem.a, args, i) - a_zero);
    auto* const to = reinterpret_cast<std::uint32_t*>(part.c) + i * p.n;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const auto e = static_cast<std::uint32_t>(zero_of(problem.b, args, j) - first_b);
      to[j] -= d * column_sums[j] + e * row_sum - static_cast<std::uint32_t>(p.k) * d * e;
    }
  }
}

/// Null if the library has no fast way, or the process exits.
std::shared_ptr<const Library> make_library(const Problem& problem) {
  std::shared_ptr<Library> made;
  conv::STOKER_ISA::make_by_onednn([&] {
    made = std::make_shared<Library>(Library{.problem = problem});
    if (!made->prepare()) made = nullptr;
  });
  return made;
}

}  // namespace

std::optional<CpuPlan> onednn_plan(const Problem& problem) {
  const std::shared_ptr<const Library> library = make_library(problem);
  if (!library) return std::nullopt;
  CpuPlan plan;
  if (const std::size_t bytes = library->flipped_bytes()) {
    const std::uint32_t copies = slice_count(bytes, std::size_t{256} << 10);
    plan.stages.push_back(
        {copies, [bytes, copies, from = problem.b.input](const CpuArgs& args, std::uint32_t index) {
           const SliceRange range = slice_range(bytes, copies, index);
           for (std::size_t i = range.begin; i < range.end; ++i)
             args.scratch[i] = args.in<std::byte>(from)[i] ^ std::byte{flip};
         }});
  }
  const auto parts = static_cast<std::size_t>(problem.product.batches) * library->cuts;
  const auto slices = static_cast<std::uint32_t>(std::min<std::size_t>(
      parts, std::max(mm::wanted_slices(problem.product.work() / 8), library->cuts)));
  plan.scratch_bytes = library->own_at + library->own_bytes * slices;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const mm::OneThread one(library->threads);
                           const SliceRange range = slice_range(parts, slices, index, 1);
                           for (std::size_t part = range.begin; part < range.end; ++part)
                             library->run(args, index, static_cast<std::int64_t>(part));
                         }});
  return plan;
}

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
