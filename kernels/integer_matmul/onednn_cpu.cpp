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

/// What makes u8 of s8, bit for bit, and s8 of u8.
constexpr int flip = 128;

/// Some rows of one product.
struct Rows {
  std::int64_t count = 0;
  Desc a, b, c, pad;
  dnnl::matmul main;
};

/// A product that oneDNN computes without zero points, as its sums are exact only so (exact_terms). They come in
/// afterwards: with d and e those of row i and column j,
///     sum of (a - d)(b - e) = sum of a·b - d · sum of b - e · (sum of a - k·d).
struct Library {
  Problem problem;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  mm::LibraryThreads threads = mm::LibraryThreads::find();
  std::uint32_t cuts = 1;          ///< parts of a matrix
  std::vector<Rows> heights = {};  ///< of parts, each once
  // Scratch: the right sides as s8, the left ones as u8, sums of columns, then what each slice has of its own: the
  // library's, sums of rows, zero points of columns.
  std::size_t a_at = 0, column_sums_at = 0, own_at = 0;
  std::size_t row_sums_at = 0, zeros_at = 0, own_bytes = 0;

  bool prepare();
  void sum_columns(const CpuArgs& args, const SliceRange& columns) const noexcept;
  void run(const CpuArgs& args, std::uint32_t slice, std::int64_t part) const;

  [[nodiscard]] const matmul::Problem& product() const noexcept { return problem.product; }
  [[nodiscard]] bool is_a_flipped() const noexcept {
    return problem.a.is_signed && product().k > exact_terms;
  }
  [[nodiscard]] bool is_b_flipped() const noexcept { return !problem.b.is_signed; }
  [[nodiscard]] std::size_t a_bytes() const noexcept {
    return static_cast<std::size_t>(product().a_matrices * product().m * product().k);
  }
  [[nodiscard]] std::size_t b_bytes() const noexcept {
    return columns() * static_cast<std::size_t>(product().k);
  }
  [[nodiscard]] std::size_t columns() const noexcept {
    return static_cast<std::size_t>(product().b_matrices * product().n);
  }
  [[nodiscard]] bool has_a_zeros() const noexcept { return problem.a.zeros != 0 || is_a_flipped(); }
  [[nodiscard]] bool has_b_zeros() const noexcept { return problem.b.zeros != 0 || is_b_flipped(); }

 private:
  bool make(std::int64_t rows);
  void compute(const Rows& rows, const std::byte* a, const std::byte* b, std::uint32_t* c,
               std::byte* pad) const;
  void subtract_zeros(const CpuArgs& args, std::int64_t batch, const SliceRange& rows,
                      std::byte* own, std::uint32_t* c) const noexcept;
  [[nodiscard]] SliceRange rows_of(std::int64_t cut) const noexcept {
    return slice_range(static_cast<std::size_t>(product().m), cuts, static_cast<std::uint32_t>(cut),
                       32);
  }
};

/// The sums of lines `first` to `last` of a matrix.
template <class S>
void sum_lines(const S* matrix, const Lines& lines, std::int64_t k, std::int64_t first,
               std::int64_t last, std::uint32_t* sums) noexcept {
  std::fill_n(sums, last - first, 0U);
  if (lines.step == 1) {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t t = 0; t < k; ++t)
        sums[i - first] += static_cast<std::uint32_t>(matrix[i * lines.line_step + t]);
    return;
  }
  for (std::int64_t t = 0; t < k; ++t)
    for (std::int64_t i = first; i < last; ++i)
      sums[i - first] += static_cast<std::uint32_t>(matrix[t * lines.step + i * lines.line_step]);
}

/// The same of one matrix of an operand.
void sum_lines(const Side& side, const CpuArgs& args, std::int64_t matrix, const Lines& lines,
               std::int64_t k, std::int64_t first, std::int64_t last,
               std::uint32_t* sums) noexcept {
  const std::int64_t at = matrix * lines.count * k;
  side.is_signed ? sum_lines(args.in<std::int8_t>(side.input) + at, lines, k, first, last, sums)
                 : sum_lines(args.in<std::uint8_t>(side.input) + at, lines, k, first, last, sums);
}

bool Library::make(std::int64_t rows) {
  const matmul::Problem& p = product();
  Rows made;
  made.count = rows;
  made.a = Desc({rows, p.k}, problem.a.is_signed && !is_a_flipped() ? Type::s8 : Type::u8,
                Dims{p.a_row_step(), p.a_column_step()});
  made.b = Desc({p.k, p.n}, Type::s8, Dims{p.transpose_b ? 1 : p.n, p.transpose_b ? p.k : 1});
  made.c = Desc({rows, p.n}, Type::s32, Dims{p.n, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
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
  a_at = aligned(is_b_flipped() ? b_bytes() : 0);
  column_sums_at = a_at + aligned(is_a_flipped() ? a_bytes() : 0);
  own_at = column_sums_at + aligned(has_a_zeros() ? columns() * 4 : 0);
  row_sums_at = pad;
  const std::int64_t most = std::ranges::max(heights, {}, &Rows::count).count;
  zeros_at = row_sums_at + aligned(has_b_zeros() ? static_cast<std::size_t>(most) * 4 : 0);
  own_bytes = zeros_at + aligned(has_b_zeros() ? static_cast<std::size_t>(p.n) * 4 : 0);
  return true;
}

void Library::sum_columns(const CpuArgs& args, const SliceRange& range) const noexcept {
  const matmul::Problem& p = product();
  auto* const sums = reinterpret_cast<std::uint32_t*>(args.scratch + column_sums_at);
  const auto end = static_cast<std::int64_t>(range.end);
  for (auto at = static_cast<std::int64_t>(range.begin); at < end;) {
    const std::int64_t matrix = at / p.n, first = at % p.n;
    const std::int64_t last = std::min(p.n, first + end - at);
    sum_lines(problem.b, args, matrix, Lines::of_b(p), p.k, first, last, sums + at);
    at += last - first;
  }
}

void Library::run(const CpuArgs& args, std::uint32_t slice, std::int64_t index) const {
  const matmul::Problem& p = product();
  const std::int64_t batch = index / cuts;
  const auto [of_a, of_b] = p.matrices(batch);
  const SliceRange rows = rows_of(index % cuts);
  if (rows.begin == rows.end) return;
  const auto m0 = static_cast<std::int64_t>(rows.begin);
  const std::byte* const left =
      is_a_flipped() ? args.scratch + a_at : args.in<std::byte>(problem.a.input);
  const std::byte* const right =
      is_b_flipped() ? args.scratch : args.in<std::byte>(problem.b.input);
  std::byte* const own = args.scratch + own_at + slice * own_bytes;
  std::uint32_t* const c = args.out<std::uint32_t>() + (batch * p.m + m0) * p.n;
  compute(*std::ranges::find(heights, static_cast<std::int64_t>(rows.end) - m0, &Rows::count),
          left + of_a * p.m * p.k + m0 * p.a_row_step(), right + of_b * p.k * p.n, c, own);
  if (has_a_zeros() || has_b_zeros()) subtract_zeros(args, batch, rows, own, c);
}

void Library::compute(const Rows& rows, const std::byte* a, const std::byte* b, std::uint32_t* c,
                      std::byte* pad) const {
  const ExitDelay in_library;
  if (in_library.too_late()) throw process_exits("integer_matmul");
  try {
    dnnl::stream stream{engine};
    const auto hold = [&](const Desc& desc, const void* at) {
      return dnnl::memory(desc, engine, const_cast<void*>(at));
    };
    rows.main.execute(stream, {{DNNL_ARG_SRC, hold(rows.a, a)},
                               {DNNL_ARG_WEIGHTS, hold(rows.b, b)},
                               {DNNL_ARG_DST, hold(rows.c, c)},
                               {DNNL_ARG_SCRATCHPAD, hold(rows.pad, pad)}});
    stream.wait();
  } catch (const dnnl::error& error) {
    throw matmul::onednn_error("integer_matmul", "oneDNN refused the product", error.status);
  }
}

/// From `rows` of a batch, the first of which is `c`.
void Library::subtract_zeros(const CpuArgs& args, std::int64_t batch, const SliceRange& rows,
                             std::byte* own, std::uint32_t* c) const noexcept {
  const matmul::Problem& p = product();
  const auto [of_a, of_b] = p.matrices(batch);
  const auto m0 = static_cast<std::int64_t>(rows.begin), m1 = static_cast<std::int64_t>(rows.end);
  const int more_a = is_a_flipped() ? flip : 0, less_b = is_b_flipped() ? flip : 0;
  const auto k = static_cast<std::uint32_t>(p.k);
  auto* const row_sums = reinterpret_cast<std::uint32_t*>(own + row_sums_at);
  auto* const zeros = reinterpret_cast<std::uint32_t*>(own + zeros_at);
  if (has_b_zeros()) {
    sum_lines(problem.a, args, of_a, Lines::of_a(p), p.k, m0, m1, row_sums);
    for (std::int64_t j = 0; j < p.n; ++j)
      zeros[j] = static_cast<std::uint32_t>(zero_of(problem.b, args, j) - less_b);
  }
  const auto* const column_sums =
      reinterpret_cast<const std::uint32_t*>(args.scratch + column_sums_at) + of_b * p.n;
  // All of this wraps, as the sums do. Sums of columns are those of b as it was given.
  for (std::int64_t i = m0; i < m1; ++i, c += p.n) {
    const auto d = static_cast<std::uint32_t>(zero_of(problem.a, args, i) + more_a);
    if (has_a_zeros() && d != 0) {
      const std::uint32_t flipped = k * static_cast<std::uint32_t>(less_b);
      for (std::int64_t j = 0; j < p.n; ++j) c[j] -= d * (column_sums[j] - flipped);
    }
    if (!has_b_zeros()) continue;
    const std::uint32_t rest = row_sums[i - m0] + k * (static_cast<std::uint32_t>(more_a) - d);
    for (std::int64_t j = 0; j < p.n; ++j) c[j] -= zeros[j] * rest;
  }
}

}  // namespace

std::optional<CpuPlan> onednn_plan(const Problem& problem) {
  const std::shared_ptr<const Library> library =
      conv::STOKER_ISA::prepared_by_onednn<Library>(problem);
  if (!library) return std::nullopt;
  CpuPlan plan;
  const auto flip_all = [&](std::size_t bytes, std::size_t from, std::size_t to) {
    const std::uint32_t copies = slice_count(bytes, std::size_t{256} << 10);
    plan.stages.push_back({copies, [=](const CpuArgs& args, std::uint32_t index) {
                             const SliceRange range = slice_range(bytes, copies, index);
                             for (std::size_t i = range.begin; i < range.end; ++i)
                               args.scratch[to + i] = args.in<std::byte>(from)[i] ^ std::byte{flip};
                           }});
  };
  if (library->is_b_flipped()) flip_all(library->b_bytes(), problem.b.input, 0);
  if (library->is_a_flipped()) flip_all(library->a_bytes(), problem.a.input, library->a_at);
  if (library->has_a_zeros()) {
    const auto sums = static_cast<std::uint32_t>(std::min<std::size_t>(
        library->columns(), slice_count(library->b_bytes(), std::size_t{256} << 10)));
    plan.stages.push_back({sums, [=](const CpuArgs& args, std::uint32_t index) {
                             library->sum_columns(args,
                                                  slice_range(library->columns(), sums, index, 16));
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
