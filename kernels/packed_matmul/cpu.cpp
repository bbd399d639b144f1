#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/grid.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"
#include "stoker/kernels/packed_matmul/unpack.hpp"

namespace stoker::kernels::packed_matmul::STOKER_ISA {
namespace {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Up to so many rows are multiplied as the numbers are unpacked: for more, the numbers of some columns become a matrix
/// of floats, which stays in the cache, and a library multiplies it.
constexpr std::int64_t few_rows = 8;
/// Columns that pass by together where there is one row, and where there are several.
constexpr int columns_of_one = 4, columns_of_several = 2, several_rows = 4;

/// Where things lie in the scratch memory of a run.
struct Layout {
  std::size_t rows = 0;       ///< A, arranged
  std::size_t results = 0;    ///< C in f32, where its elements have 16 bits
  std::size_t own = 0;        ///< of the first slice
  std::size_t own_bytes = 0;  ///< of each slice: factors and offsets of columns, then a panel
  std::size_t panel = 0;      ///< within it
  std::int64_t panel_columns = columns_of_one;
};

std::size_t aligned_floats(std::int64_t count) noexcept {
  return (static_cast<std::size_t>(count) * sizeof(float) + 63) / 64 * 64;
}

Layout layout_of(const Problem& p, bool is_narrow, std::uint32_t slices, CpuPlan& plan) {
  constexpr std::int64_t second_level = std::int64_t{1} << 18;  // floats that stay there
  Layout made;
  made.results = aligned_floats(p.m * p.padded_k());
  made.own = made.results + (is_narrow ? aligned_floats(p.m * p.n) : 0);
  made.panel = std::size_t{2} * columns_of_one * aligned_floats(p.blocks());
  made.own_bytes = made.panel;
  if (p.m > few_rows) {
    made.panel_columns = std::clamp<std::int64_t>(
        second_level / std::max<std::int64_t>(p.padded_k(), 1) / 16 * 16, 48, 256);
    made.own_bytes += aligned_floats(made.panel_columns * p.padded_k());
  }
  plan.scratch_bytes = made.own + slices * made.own_bytes;
  return made;
}

/// A run's operands, and what one slice needs beside them.
class Slice {
 public:
  Slice(const Problem& p, const Layout& layout, const CpuArgs& args, std::uint32_t index,
        bool is_narrow, bool has_half_scales) noexcept
      : p_{p},
        args_{args},
        has_half_scales_{has_half_scales},
        own_{args.scratch + layout.own + index * layout.own_bytes},
        panel_{reinterpret_cast<float*>(own_ + layout.panel)},
        a_{reinterpret_cast<const float*>(args.scratch + layout.rows)},
        c_{is_narrow ? reinterpret_cast<float*>(args.scratch + layout.results)
                     : args.out<float>()} {}

  /// Columns [first, last) of C, for few rows.
  template <int lanes, int bits>
  void multiply(std::int64_t first, std::int64_t last) const noexcept {
    std::int64_t j = first;
    const int together = p_.m == 1 ? columns_of_one : columns_of_several;
    for (; j + together <= last; j += together)
      p_.m == 1 ? multiply_columns<lanes, bits, columns_of_one>(j)
                : multiply_columns<lanes, bits, columns_of_several>(j);
    for (; j < last; ++j) multiply_columns<lanes, bits, 1>(j);
  }

  /// The same for many.
  template <int lanes, int bits>
  void multiply_panel(std::int64_t first, std::int64_t last,
                      const mm::LibraryThreads& threads) const {
    using Unaligned = typename Vectors<lanes>::Unaligned;
    for (std::int64_t j = first; j < last; ++j) {
      float* const to = panel_ + (j - first) * p_.padded_k();
      unpack<lanes, bits>(p_, column(j), scaling(j, 0), [&](const auto& floats, std::int64_t at) {
        *reinterpret_cast<Unaligned*>(to + at) = floats;
      });
    }
    matmul::Problem product;
    product.m = p_.m;
    product.n = p_.n;
    product.k = p_.padded_k();
    product.transpose_b = true;
    mm::sgemm(product, a_, panel_, c_ + first, {0, p_.m, 0, last - first}, threads);
  }

 private:
  template <int lanes, int bits, int columns> void multiply_columns(std::int64_t j) const noexcept {
    Scaling scalings[columns];
    for (int i = 0; i < columns; ++i) scalings[i] = scaling(j + i, i);
    std::int64_t row = 0;
    for (; row + several_rows <= p_.m; row += several_rows)
      dots<lanes, bits, several_rows, columns>(p_, rows_at(row, j), column(j), scalings);
    for (; row < p_.m; ++row)
      dots<lanes, bits, 1, columns>(p_, rows_at(row, j), column(j), scalings);
  }
  [[nodiscard]] Rows rows_at(std::int64_t row, std::int64_t j) const noexcept {
    return {a_ + row * p_.padded_k(), c_ + row * p_.n + j, p_.n};
  }
  [[nodiscard]] const std::uint8_t* column(std::int64_t j) const noexcept {
    return args_.in<std::uint8_t>(1) + j * p_.column_bytes();
  }

  /// Of column j, in the place `at` of those that are needed together.
  [[nodiscard]] Scaling scaling(std::int64_t j, int at) const noexcept {
    const std::int64_t blocks = p_.blocks();
    const std::size_t each = aligned_floats(blocks);
    auto* const own = reinterpret_cast<float*>(own_ + 2 * static_cast<std::size_t>(at) * each);
    auto* const offsets =
        reinterpret_cast<float*>(own_ + (2 * static_cast<std::size_t>(at) + 1) * each);
    const float* factors = own;
    if (has_half_scales_)
      cpu::STOKER_ISA::load_block(args_.in<Half>(2) + j * blocks, own,
                                  static_cast<std::size_t>(blocks));
    else
      factors = args_.in<float>(2) + j * blocks;
    if (!p_.has_zeros) {
      const auto zero = static_cast<float>(p_.zero_point);
      for (std::int64_t i = 0; i < blocks; ++i) offsets[i] = -zero * factors[i];
      return {factors, offsets};
    }
    const std::uint8_t* const zeros = args_.in<std::uint8_t>(3) + j * p_.zero_bytes();
    const int bits = static_cast<int>(p_.bits), mask = (1 << bits) - 1;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int64_t bit = i * bits;
      offsets[i] = -static_cast<float>(zeros[bit / 8] >> (bit % 8) & mask) * factors[i];
    }
    return {factors, offsets};
  }

  const Problem& p_;
  const CpuArgs& args_;
  const bool has_half_scales_;
  std::byte* own_;
  float* panel_;
  const float* a_;
  float* c_;
};

/// Puts all rows of A into the order of the numbers.
template <class S> void add_arranging(CpuPlan& plan, const Problem& p, std::int64_t lanes) {
  constexpr std::int64_t piece = 1024;  // whole vectors of numbers
  const auto rows = static_cast<std::size_t>(p.m);
  const auto slices = static_cast<std::uint32_t>(std::min<std::size_t>(
      rows, slice_count(static_cast<std::size_t>(p.m * p.padded_k()), std::size_t{64} << 10)));
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(rows, slices, index, 1);
         float buffer[piece];
         for (auto row = static_cast<std::int64_t>(range.begin);
              row < static_cast<std::int64_t>(range.end); ++row) {
           auto* const to = reinterpret_cast<float*>(args.scratch) + row * p.padded_k();
           for (std::int64_t t = 0; t < p.padded_k(); t += piece) {
             const std::int64_t count = std::clamp<std::int64_t>(p.k - t, 0, piece);
             const float* const from =
                 cpu::STOKER_ISA::loaded(args.in<S>(0) + row * p.k + std::min(t, p.k), buffer,
                                         static_cast<std::size_t>(count));
             arrange(p.bits, lanes, from, count, std::min(piece, p.padded_k() - t), to + t);
           }
         }
       }});
}

/// Stores results that were computed in f32 as 16-bit floats.
template <class S> void add_narrowing(CpuPlan& plan, const Problem& p, const Layout& layout) {
  const auto elements = static_cast<std::size_t>(p.m * p.n);
  const std::uint32_t slices = slice_count(elements, std::size_t{64} << 10);
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(elements, slices, index);
         const auto* const from = reinterpret_cast<const float*>(args.scratch + layout.results);
         cpu::STOKER_ISA::store_block(from + range.begin, args.out<S>() + range.begin,
                                      range.end - range.begin);
       }});
}

template <class S, int lanes, int bits> CpuPlan plan_of(const Problem& p, bool has_half_scales) {
  constexpr bool is_narrow = !std::is_same_v<S, float>;
  CpuPlan plan;
  const double numbers = static_cast<double>(p.n) * static_cast<double>(p.padded_k());
  const double rows = static_cast<double>(p.m);
  const bool has_few_rows = p.m <= few_rows;
  const std::uint32_t wanted =
      has_few_rows ? slice_count(static_cast<std::size_t>(numbers * rows), std::size_t{1} << 18)
                   : mm::wanted_slices(numbers * rows);
  const auto slices = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(p.n / (has_few_rows ? columns_of_one : 16), 1, wanted));
  const Layout layout = layout_of(p, is_narrow, slices, plan);
  add_arranging<S>(plan, p, lanes);
  const mm::LibraryThreads threads = mm::LibraryThreads::find();
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const Slice slice{p, layout, args, index, is_narrow, has_half_scales};
         const SliceRange range =
             slice_range(static_cast<std::size_t>(p.n), slices, index, columns_of_one);
         const auto first = static_cast<std::int64_t>(range.begin);
         const auto last = static_cast<std::int64_t>(range.end);
         if (p.m <= few_rows) return slice.multiply<lanes, bits>(first, last);
         for (std::int64_t j = first; j < last; j += layout.panel_columns)
           slice.multiply_panel<lanes, bits>(j, std::min(last, j + layout.panel_columns), threads);
       }});
  if constexpr (is_narrow) add_narrowing<S>(plan, p, layout);
  plan.cost_ns = numbers * (0.04 + 0.015 * rows) + 200;
  return plan;
}

template <class S, int bits> CpuPlan plan_for_bits(const Problem& p, bool has_half_scales) {
  switch (lanes_of(p)) {
#if defined(__AVX512F__)
    case 16: return plan_of<S, 16, bits>(p, has_half_scales);
#endif
#if defined(__AVX2__)
    case 8: return plan_of<S, 8, bits>(p, has_half_scales);
#endif
    default: return plan_of<S, 4, bits>(p, has_half_scales);
  }
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
