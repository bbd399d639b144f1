#include <cmath>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/packed_matmul/dots.hpp"
#include "stoker/kernels/packed_matmul/tiles.hpp"

namespace stoker::kernels::packed_matmul::STOKER_ISA {
namespace {

/// Up to so many rows are multiplied as the numbers are unpacked. Tiles compute whole vectors of rows.
constexpr std::int64_t few_rows = native_lanes == 8 ? 5 : 8;
/// Columns that pass by together where there are so many rows: their sums stay in registers.
constexpr int columns_with(int rows) noexcept { return rows == 1 ? 4 : 2; }
constexpr int most_columns = 4;

std::size_t aligned_floats(std::int64_t count) noexcept {
  return (static_cast<std::size_t>(count) * sizeof(float) + 63) / 64 * 64;
}

/// Where things lie in the scratch memory of a run, in bytes.
struct Layout {
  std::size_t piece_sums = 0;  ///< of A's rows; A, arranged, is before them
  std::size_t results = 0;     ///< C in f32, where its elements have 16 bits
  std::size_t own = 0;         ///< of the first slice
  std::size_t own_each = 0;
};

template <class P> Layout layout_of(const Problem& p, bool is_narrow) {
  Layout made;
  if (p.m <= few_rows) {
    made.piece_sums = aligned_floats(p.m * p.padded_k());
    made.results = made.piece_sums + aligned_floats(p.m * p.padded_k() / P::vectors);
    made.own_each = std::size_t{2} * most_columns * aligned_floats(Scales::room(p.blocks()));
  } else {
    made.results = aligned_floats(Strips{p}.elements());
    made.own_each = aligned_floats(Panels::own_floats);
  }
  made.own = made.results + (is_narrow ? aligned_floats(p.m * p.n) : 0);
  return made;
}

float* floats_at(const CpuArgs& args, std::size_t byte) noexcept {
  return reinterpret_cast<float*>(args.scratch + byte);
}

// Few rows ----------------------------------------------------------------------------------------

/// Some columns of few rows.
class FewRows {
 public:
  FewRows(const Problem& p, const Layout& layout, const Scales& scales, const CpuArgs& args,
          float* c, std::uint32_t slice) noexcept
      : p_{p},
        scales_{scales},
        b_{args.in<std::uint8_t>(1)},
        a_{floats_at(args, 0)},
        piece_sums_{floats_at(args, layout.piece_sums)},
        c_{c},
        own_{floats_at(args, layout.own + slice * layout.own_each)} {}

  template <class P> void multiply(const Range& columns) const noexcept {
    std::int64_t row = 0;
    for (; row + 4 <= p_.m; row += 4) multiply_rows<P, 4>(row, columns);
    if (p_.m - row == 3) multiply_rows<P, 3>(row, columns);
    if (p_.m - row == 2) multiply_rows<P, 2>(row, columns);
    if (p_.m - row == 1) multiply_rows<P, 1>(row, columns);
  }

 private:
  template <class P, int rows>
  void multiply_rows(std::int64_t row, const Range& columns) const noexcept {
    constexpr int together = columns_with(rows);
    std::int64_t j = columns.first;
    for (; j + together <= columns.last; j += together) multiply_columns<P, rows, together>(row, j);
    for (; j < columns.last; ++j) multiply_columns<P, rows, 1>(row, j);
  }
  template <class P, int rows, int columns>
  void multiply_columns(std::int64_t row, std::int64_t j) const noexcept {
    const std::int64_t room =
        static_cast<std::int64_t>(aligned_floats(Scales::room(p_.blocks())) / sizeof(float));
    Scaling scaling[columns];
    for (int i = 0; i < columns; ++i)
      scaling[i] =
          scales_.of(j + i, 0, p_.blocks(), own_ + 2 * i * room, own_ + (2 * i + 1) * room);
    const Rows of{a_ + row * p_.padded_k(), piece_sums_ + row * p_.padded_k() / P::vectors,
                  c_ + row * p_.n + j, p_.n};
    dots<P, rows, columns>(p_, of, b_ + j * p_.column_bytes(), scaling);
    if constexpr (rows == 1) repeat_not_finite<P, columns>(of, j, scaling);
  }

  /// Zero points that leave the sum of a row's elements make NaN of an infinity, and of what only the sum is too
  /// large for: such results are computed again as those of several rows are.
  template <class P, int columns>
  void repeat_not_finite(const Rows& of, std::int64_t j,
                         const Scaling (&scaling)[columns]) const noexcept {
    for (int i = 0; i < columns; ++i)
      if (!std::isfinite(of.c[i]))
        dot_of_weights<P>(p_, {of.a, nullptr, of.c + i, of.c_step},
                          b_ + (j + i) * p_.column_bytes(), scaling[i]);
  }

  const Problem& p_;
  const Scales& scales_;
  const std::uint8_t* b_;
  const float* a_;
  const float* piece_sums_;
  float* c_;
  float* own_;
};

// Plans -------------------------------------------------------------------------------------------

/// Puts A into the order of the numbers.
template <class S, class P>
void add_arranging(CpuPlan& plan, const Problem& p, const Layout& layout) {
  constexpr std::size_t grain = std::size_t{64} << 10;
  if (p.m <= few_rows) {
    const auto rows = static_cast<std::size_t>(p.m);
    const auto slices = static_cast<std::uint32_t>(std::clamp<std::size_t>(
        rows, 1, slice_count(static_cast<std::size_t>(p.m * p.padded_k()), grain)));
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             const SliceRange range = slice_range(rows, slices, index, 1);
                             for (auto row = static_cast<std::int64_t>(range.begin);
                                  row < static_cast<std::int64_t>(range.end); ++row) {
                               float* const to = floats_at(args, 0) + row * p.padded_k();
                               arrange<P>(args.in<S>(0) + row * p.k, p.k, p.padded_k(), to);
                               sum_pieces<P>(to, p.padded_k(),
                                             floats_at(args, layout.piece_sums) +
                                                 row * p.padded_k() / P::vectors);
                             }
                           }});
    return;
  }
  const Strips strips{p};
  const std::int64_t deep = (p.padded_k() + depth_at_once - 1) / depth_at_once;
  const auto units = static_cast<std::size_t>(strips.count() * deep);
  const auto slices = static_cast<std::uint32_t>(std::min<std::size_t>(
      units, slice_count(static_cast<std::size_t>(strips.elements()), grain)));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(units, slices, index, 1);
                           for (auto i = static_cast<std::int64_t>(range.begin);
                                i < static_cast<std::int64_t>(range.end); ++i)
                             pack_strip<P>(p, strips, args.in<S>(0), i / deep,
                                           i % deep * depth_at_once, floats_at(args, 0));
                         }});
}

/// Stores results that were computed in f32 as 16-bit floats.
template <class S> void add_narrowing(CpuPlan& plan, const Problem& p, const Layout& layout) {
  const auto elements = static_cast<std::size_t>(p.m * p.n);
  const std::uint32_t slices = slice_count(elements, std::size_t{64} << 10);
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(elements, slices, index);
                           cpu::STOKER_ISA::store_block(
                               static_cast<const float*>(floats_at(args, layout.results)) +
                                   range.begin,
                               args.out<S>() + range.begin, range.end - range.begin);
                         }});
}

Range range_of(std::int64_t count, std::uint32_t slices, std::uint32_t index, std::size_t align) {
  const SliceRange made = slice_range(static_cast<std::size_t>(count), slices, index, align);
  return {static_cast<std::int64_t>(made.begin), static_cast<std::int64_t>(made.end)};
}

template <class S, class P> CpuPlan plan_of(const Problem& p, bool has_half_scales) {
  constexpr bool is_narrow = !std::is_same_v<S, float>;
  const Layout layout = layout_of<P>(p, is_narrow);
  const double numbers = static_cast<double>(p.n) * static_cast<double>(p.padded_k());
  const double work = numbers * static_cast<double>(p.m);
  const std::uint32_t wanted = slice_count(static_cast<std::size_t>(work), std::size_t{1} << 18);
  CpuPlan plan;
  add_arranging<S, P>(plan, p, layout);
  const auto c_of = [layout](const CpuArgs& args) {
    return is_narrow ? floats_at(args, layout.results) : args.out<float>();
  };
  std::uint32_t slices = 1;
  if (p.m <= few_rows) {
    slices = static_cast<std::uint32_t>(std::clamp<std::int64_t>(p.n / most_columns, 1, wanted));
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             const Scales scales{p, args, has_half_scales};
                             FewRows{p, layout, scales, args, c_of(args), index}.multiply<P>(
                                 range_of(p.n, slices, index, most_columns));
                           }});
  } else {
    // Where there are few columns, slices share the rows, too.
    const Strips strips{p};
    const auto across = static_cast<std::uint32_t>(std::clamp<std::int64_t>(p.n / 16, 1, wanted));
    const auto along = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(strips.count(), 1, std::max(1U, wanted / across)));
    slices = across * along;
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             const Scales scales{p, args, has_half_scales};
                             Panels{p,
                                    strips,
                                    scales,
                                    args.in<std::uint8_t>(1),
                                    floats_at(args, 0),
                                    c_of(args),
                                    floats_at(args, layout.own + index * layout.own_each)}
                                 .multiply<P>(range_of(p.n, across, index % across, mm::tile_rows),
                                              range_of(strips.count(), along, index / across, 1));
                           }});
  }
  plan.scratch_bytes = layout.own + slices * layout.own_each;
  if constexpr (is_narrow) add_narrowing<S>(plan, p, layout);
  plan.cost_ns = numbers * (0.04 + 0.015 * static_cast<double>(p.m)) + 200;
  return plan;
}

/// With pieces of four vectors, or of fewer where a block has fewer numbers.
template <class S, int bits> CpuPlan plan_for_bits(const Problem& p, bool has_half_scales) {
  if constexpr (native_lanes == 16)
    if (p.block % 64 == 0) return plan_of<S, Piece<bits, 64>>(p, has_half_scales);
  if constexpr (native_lanes >= 8)
    if (p.block % 32 == 0) return plan_of<S, Piece<bits, 32>>(p, has_half_scales);
  return plan_of<S, Piece<bits, 16>>(p, has_half_scales);
}

template <class S> CpuPlan plan_for(const Problem& p, bool has_half_scales) {
  if (p.bits == 2) return plan_for_bits<S, 2>(p, has_half_scales);
  if (p.bits == 4) return plan_for_bits<S, 4>(p, has_half_scales);
  return plan_for_bits<S, 8>(p, has_half_scales);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Problem p = describe(call);
  if (p.k == 0) {
    CpuPlan made;
    made.stages.push_back({1, [bytes = outputs[0].bytes()](const CpuArgs& args, std::uint32_t) {
                             std::fill_n(args.out<std::byte>(), bytes, std::byte{0});
                           }});
    return made;
  }
  const bool has_half_scales = call.dtype(2) == DType::f16;
  switch (call.dtype()) {
    case DType::f16: return plan_for<Half>(p, has_half_scales);
    case DType::bf16: return plan_for<BFloat16>(p, has_half_scales);
    default: return plan_for<float>(p, has_half_scales);
  }
}

}  // namespace

void implement(CpuTable& table) { table.set("packed_matmul", &plan); }

}  // namespace stoker::kernels::packed_matmul::STOKER_ISA
