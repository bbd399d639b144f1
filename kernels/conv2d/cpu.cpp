#include <memory>

#include "stoker/kernels/conv2d/planes.hpp"
#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::conv2d::STOKER_ISA {
namespace {

namespace mm = stoker::kernels::matmul::STOKER_ISA;
namespace convert = stoker::kernels::cpu::STOKER_ISA;
using mm::round_up;
using mm::tile_rows;

/// The right side of the product: each tap's shifted plane.
template <class C> struct Shifted {
  const C* plane;
  const std::int64_t* offsets;
  const C* operator[](std::int64_t tap) const noexcept { return plane + offsets[tap]; }
};

/// Neighbouring columns of a tile that belong to one row of the output.
struct Run {
  std::int64_t column;
  std::int64_t pixel;
  std::int64_t length;
};

/// Everything a run needs but its buffers. Shared by the slices of all runs; never changed.
template <class S> struct Convolution {
  using C = mm::Compute<S>;
  static constexpr std::int64_t width = mm::tile_columns<C>;
  static constexpr std::int64_t lanes = mm::Simd<C>::lanes;

  Planes planes;
  std::int64_t rows;       ///< outputs of a group, padded to whole panels of weights
  std::int64_t tap_block;  ///< taps summed at a time
  std::int64_t panels;     ///< of at most `width` columns
  /// If not 0: panels to each row of the output, and their sums are formed where they will lie.
  std::int64_t row_panels;
  bool streams;   ///< those sums go past the cache
  bool by_image;  ///< a slice copies and computes whole images, whose copies stay in its cache
  std::uint32_t slices;
  // Where things lie in scratch, in elements: weights, planes, and for each slice its sums.
  std::int64_t planes_at;
  std::int64_t sums_at;
  std::int64_t sums_elements;

  explicit Convolution(const Geometry& g) : planes{g, std::is_same_v<S, C>} {
    rows = round_up(g.group_outputs(), tile_rows);
    const std::int64_t blocks = (g.taps() + most_taps() - 1) / most_taps();
    tap_block = (g.taps() + blocks - 1) / std::max<std::int64_t>(blocks, 1);
    row_panels = panels_of_row(g);
    streams = row_panels && blocks == 1 && output_bytes(g) >= convert::stream_from_bytes;
    panels = row_panels ? g.out_h * row_panels : (planes.columns() + width - 1) / width;
    const std::int64_t cores = slice_count(std::size_t{1} << 30, 1) / 4;
    slices = slice_count(static_cast<std::size_t>(g.work()), std::size_t{1} << 19);
    by_image =
        !planes.in_place && (g.images >= 4 * cores || (g.images % cores == 0 && slices >= cores));
    slices =
        static_cast<std::uint32_t>(std::min<std::int64_t>(slices, by_image ? g.images : tiles()));
    planes_at = round_up(g.groups * rows * g.taps(), 16);
    const std::int64_t copies = planes.in_place ? 0 : by_image ? slices : g.images;
    // The last vector that a tap reads may begin inside the planes and end behind them.
    sums_at = planes_at + round_up(copies * image_step() + 64, 16);
    // The last panel's columns are copied where the input serves as planes.
    sums_elements =
        row_panels ? 0 : round_up(rows * width + (planes.in_place ? tap_block * width : 0), 16);
  }

  [[nodiscard]] static std::size_t output_bytes(const Geometry& g) noexcept {
    return static_cast<std::size_t>(g.images * g.out_channels * g.out_pixels()) * sizeof(C);
  }
  /// Panels within rows need no copy of their sums, but end in the middle of a vector: worth it only
  /// where that is rare, or never happens.
  [[nodiscard]] std::int64_t panels_of_row(const Geometry& g) const noexcept {
    const std::int64_t whole = round_up(g.out_w, lanes);
    if (!std::is_same_v<S, C> || planes.in_place || g.taps() == 0 || whole * 20 > g.out_w * 21)
      return 0;
    return (whole + width - 1) / width;
  }

  [[nodiscard]] std::int64_t tiles() const noexcept {
    return planes.g.images * planes.g.groups * panels;
  }
  [[nodiscard]] std::int64_t image_step() const noexcept {
    return planes.g.channels * planes.per_channel();
  }
  [[nodiscard]] std::int64_t weight_panels() const noexcept {
    return planes.g.groups * (rows / tile_rows);
  }
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return static_cast<std::size_t>(sums_at + sums_elements * slices) * sizeof(C);
  }
  [[nodiscard]] C* scratch(const CpuArgs& args, std::int64_t at) const noexcept {
    return reinterpret_cast<C*>(args.scratch) + at;
  }

  /// As many taps as read 32 KiB of a panel: then those stay in the first-level cache for all outputs.
  /// Taps of one row share most of their cache lines.
  [[nodiscard]] std::int64_t most_taps() const noexcept {
    const Geometry& g = planes.g;
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(C));
    const std::int64_t lines =
        g.kernel_h * planes.w.count() * (width / line + 1 + planes.w.shift(g.kernel_w - 1) / line);
    return std::clamp(32768 / 64 * g.kernel_h * g.kernel_w / lines, std::int64_t{96},
                      mm::Block<C>::k);
  }

  /// One panel of weights, in blocks of taps: block after block, panel after panel in each.
  void pack_weights(const CpuArgs& args, std::int64_t panel) const noexcept {
    const Geometry& g = planes.g;
    const std::int64_t group = panel / (rows / tile_rows);
    const std::int64_t m = panel % (rows / tile_rows) * tile_rows;
    const S* from = args.in<S>(1) + (group * g.group_outputs() + m) * g.taps();
    C* to = scratch(args, group * rows * g.taps());
    for (std::int64_t t = 0; t < g.taps(); t += tap_block) {
      const std::int64_t taps = std::min(tap_block, g.taps() - t);
      mm::pack_along<tile_rows>(from + t, g.taps(), std::min(tile_rows, g.group_outputs() - m),
                                taps, to + m * taps);
      to += rows * taps;
    }
  }

  /// `channel` counts through all images; `to`: the planes of its image.
  void copy_channel(const CpuArgs& args, std::int64_t channel, C* to) const noexcept {
    const Geometry& g = planes.g;
    planes.copy(args.in<S>(0) + channel * g.in_h * g.in_w,
                to + channel % g.channels * planes.per_channel());
  }

  [[nodiscard]] int find_runs(std::int64_t first, std::int64_t columns, Run* runs) const noexcept {
    const Geometry& g = planes.g;
    const std::int64_t plane_w = planes.w.extent;
    if (plane_w == g.out_w) {
      runs[0] = {0, first, columns};
      return 1;
    }
    int count = 0;
    for (std::int64_t i = first / plane_w; i * plane_w < first + columns; ++i) {
      const std::int64_t from = std::max(first, i * plane_w);
      const std::int64_t to = std::min(first + columns, i * plane_w + g.out_w);
      if (from < to) runs[count++] = {from - first, i * g.out_w + from - i * plane_w, to - from};
    }
    return count;
  }

  /// All outputs of one group for one panel of columns. `plane`: the planes of the image.
  void run_tile(const CpuArgs& args, std::int64_t image, std::int64_t group, std::int64_t panel,
                const C* plane, C* sums) const noexcept {
    const Geometry& g = planes.g;
    if constexpr (std::is_same_v<S, C>)
      if (row_panels) return run_in_row(args, image, group, panel, plane);
    const std::int64_t first = panel * width;
    const std::int64_t columns = std::min(width, planes.columns() - first);
    const std::int64_t whole = round_up(columns, lanes);
    plane += group * g.group_channels() * planes.per_channel() + first;

    const C* weights = scratch(args, group * rows * g.taps());
    C* const copied = sums + rows * width;
    // The input ends with its last element: whole vectors may not be read past it.
    const bool at_end = planes.in_place && panel == panels - 1;
    for (std::int64_t t = 0; t < g.taps(); t += tap_block) {
      const std::int64_t taps = std::min(tap_block, g.taps() - t);
      const std::int64_t* offsets = planes.offsets.data() + t;
      if (at_end) mm::pack_across<width>(plane + offsets[0], planes.step, columns, taps, copied);
      for (std::int64_t m = 0; m < g.group_outputs(); m += tile_rows) {
        const std::int64_t outputs = std::min(tile_rows, g.group_outputs() - m);
        const mm::PackedRows<C> left{weights + m * taps};
        if (at_end)
          mm::tile(outputs, whole, taps, left, mm::PackedColumns<C>{copied}, sums + m * width,
                   width, t > 0);
        else
          mm::tile(outputs, whole, taps, left, Shifted<C>{plane, offsets}, sums + m * width, width,
                   t > 0);
      }
      weights += rows * taps;
    }
    if (g.taps() == 0) std::fill_n(sums, g.group_outputs() * width, C{});
    store(args, image, group, first, columns, sums);
  }

  /// The same for a panel within a row of the output: the sums are formed where they belong, or
  /// written there past the cache.
  void run_in_row(const CpuArgs& args, std::int64_t image, std::int64_t group, std::int64_t panel,
                  const C* plane) const noexcept {
    const Geometry& g = planes.g;
    const std::int64_t row = panel / row_panels;
    const SliceRange range =
        slice_range(static_cast<std::size_t>(g.out_w), static_cast<std::uint32_t>(row_panels),
                    static_cast<std::uint32_t>(panel % row_panels), lanes);
    const auto first = static_cast<std::int64_t>(range.begin);
    const std::int64_t columns = static_cast<std::int64_t>(range.end) - first;
    plane += group * g.group_channels() * planes.per_channel() + row * planes.w.extent + first;
    const std::int64_t output = group * g.group_outputs();
    C* const to =
        args.out<C>() + (image * g.out_channels + output) * g.out_pixels() + row * g.out_w + first;
    const C* bias = g.bias ? args.in<C>(2) + output : nullptr;
    const C* weights = scratch(args, group * rows * g.taps());
    alignas(64) C sums[tile_rows * width];
    for (std::int64_t t = 0; t < g.taps(); t += tap_block) {
      const std::int64_t taps = std::min(tap_block, g.taps() - t);
      const Shifted<C> right{plane, planes.offsets.data() + t};
      for (std::int64_t m = 0; m < g.group_outputs(); m += tile_rows) {
        const std::int64_t outputs = std::min(tile_rows, g.group_outputs() - m);
        C* const target = streams ? sums : to + m * g.out_pixels();
        const std::int64_t step = streams ? width : g.out_pixels();
        if (bias && t == 0)
          for (std::int64_t i = 0; i < outputs; ++i)
            std::fill_n(target + i * step, columns, bias[m + i]);
        mm::tile(outputs, columns, taps, mm::PackedRows<C>{weights + m * taps}, right, target, step,
                 t > 0 || bias);
        if (!streams) continue;
        for (std::int64_t i = 0; i < outputs; ++i)
          convert::stream_copy(to + (m + i) * g.out_pixels(), sums + i * width,
                               static_cast<std::size_t>(columns) * sizeof(C));
      }
      weights += rows * taps;
    }
    if (streams) convert::stream_fence();
  }

  /// Adds the bias and writes what belongs to the output.
  void store(const CpuArgs& args, std::int64_t image, std::int64_t group, std::int64_t first,
             std::int64_t columns, C* sums) const noexcept {
    const Geometry& g = planes.g;
    Run runs[width + 1];
    const int count = find_runs(first, columns, runs);
    for (std::int64_t m = 0; m < g.group_outputs(); ++m, sums += width) {
      const std::int64_t output = group * g.group_outputs() + m;
      if (g.bias) {
        C bias;
        convert::load_block(args.in<S>(2) + output, &bias, 1);
        for (std::int64_t j = 0; j < width; ++j) sums[j] += bias;
      }
      S* to = args.out<S>() + (image * g.out_channels + output) * g.out_pixels();
      for (int i = 0; i < count; ++i)
        convert::store_block(static_cast<const C*>(sums + runs[i].column), to + runs[i].pixel,
                             static_cast<std::size_t>(runs[i].length));
    }
  }

  /// Slice `index` where each copies the images it computes.
  void run_images(const CpuArgs& args, std::uint32_t index) const noexcept {
    const Geometry& g = planes.g;
    C* const copies = scratch(args, planes_at + index * image_step());
    C* const sums = scratch(args, sums_at + index * sums_elements);
    const SliceRange range = slice_range(static_cast<std::size_t>(g.images), slices, index, 1);
    for (auto image = static_cast<std::int64_t>(range.begin);
         image < static_cast<std::int64_t>(range.end); ++image) {
      for (std::int64_t c = 0; c < g.channels; ++c)
        copy_channel(args, image * g.channels + c, copies);
      for (std::int64_t group = 0; group < g.groups; ++group)
        for (std::int64_t panel = 0; panel < panels; ++panel)
          run_tile(args, image, group, panel, copies, sums);
    }
  }

  /// Slice `index` where the planes of all images are there.
  void run_tiles(const CpuArgs& args, std::uint32_t index) const noexcept {
    const Geometry& g = planes.g;
    C* const sums = scratch(args, sums_at + index * sums_elements);
    const SliceRange range = slice_range(static_cast<std::size_t>(tiles()), slices, index, 1);
    for (auto tile = static_cast<std::int64_t>(range.begin);
         tile < static_cast<std::int64_t>(range.end); ++tile) {
      const std::int64_t image = tile / panels / g.groups;
      const C* plane = scratch(args, planes_at);
      if constexpr (std::is_same_v<S, C>)
        if (planes.in_place) plane = args.in<S>(0);
      run_tile(args, image, tile / panels % g.groups, tile % panels, plane + image * image_step(),
               sums);
    }
  }
};

template <class S> CpuPlan plan_for(const Geometry& g) {
  const auto conv = std::make_shared<const Convolution<S>>(g);
  CpuPlan plan;
  plan.scratch_bytes = conv->scratch_bytes();

  // First the weights, and the planes if slices share them: a panel or a channel is a unit.
  const std::int64_t weights = conv->weight_panels();
  const std::int64_t channels = conv->planes.in_place || conv->by_image ? 0 : g.images * g.channels;
  const double elements = static_cast<double>(conv->planes_at) +
                          static_cast<double>(channels * conv->planes.per_channel());
  const auto units = static_cast<std::size_t>(weights + channels);
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(units, slice_count(static_cast<std::size_t>(elements), 32768)));
  plan.stages.push_back(
      {slices, [conv, weights, units, slices](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(units, slices, index, 1);
         for (auto i = static_cast<std::int64_t>(range.begin);
              i < static_cast<std::int64_t>(range.end); ++i) {
           if (i < weights) {
             conv->pack_weights(args, i);
             continue;
           }
           const std::int64_t channel = i - weights;
           const std::int64_t image = channel / conv->planes.g.channels;
           conv->copy_channel(args, channel,
                              conv->scratch(args, conv->planes_at + image * conv->image_step()));
         }
       }});
  plan.stages.push_back({conv->slices, [conv](const CpuArgs& args, std::uint32_t index) {
                           conv->by_image ? conv->run_images(args, index)
                                          : conv->run_tiles(args, index);
                         }});
  return plan;
}

/// A pointwise convolution of f32 is a plain product for each image, and oneDNN multiplies those best
/// from this many multiply-adds on.
constexpr double library_work = 1 << 19;

CpuPlan pointwise_plan(const Geometry& g) {
  matmul::Problem product;
  product.m = g.group_outputs();
  product.n = g.out_pixels();
  product.k = g.taps();
  const std::int64_t products = g.images * g.groups;
  const std::int64_t cores = slice_count(std::size_t{1} << 30, 1) / 4;
  // Few images are cut into rows, so that every core has work.
  const auto parts = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((cores + products - 1) / products, 1, (product.m + 15) / 16));
  const auto jobs = static_cast<std::size_t>(products) * parts;
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(jobs, slice_count(static_cast<std::size_t>(g.work()), 1 << 20)));
  const mm::LibraryThreads threads = mm::LibraryThreads::find();
  CpuPlan plan;
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(jobs, slices, index, 1);
         for (std::size_t job = range.begin; job < range.end; ++job) {
           const auto image = static_cast<std::int64_t>(job / parts);
           const std::int64_t group = image % g.groups;
           const SliceRange rows = slice_range(static_cast<std::size_t>(product.m), parts,
                                               static_cast<std::uint32_t>(job % parts), tile_rows);
           const mm::Part part{static_cast<std::int64_t>(rows.begin),
                               static_cast<std::int64_t>(rows.end), 0, product.n};
           float* c = args.out<float>() + image * product.m * product.n;
           mm::sgemm(product, args.in<float>(1) + group * product.m * product.k,
                     args.in<float>(0) + image * product.k * product.n, c, part, threads);
           if (!g.bias) continue;
           for (std::int64_t m = part.m0; m < part.m1; ++m) {
             const float bias = args.in<float>(2)[group * product.m + m];
             for (std::int64_t j = 0; j < product.n; ++j) c[m * product.n + j] += bias;
           }
         }
       }});
  return plan;
}

// Signed integers are multiplied as unsigned ones: the bits are the same, and overflow wraps.
CpuPlan plan_of(DType dtype, const Geometry& g) {
  switch (dtype) {
    case DType::f64: return plan_for<double>(g);
    case DType::f16: return plan_for<Half>(g);
    case DType::bf16: return plan_for<BFloat16>(g);
    case DType::s32: return plan_for<std::uint32_t>(g);
    default: break;
  }
  const bool product = g.pointwise() && g.pad_top == 0 && g.pad_left == 0;
  const double each = g.work() / static_cast<double>(g.images * g.groups);
  return product && each >= library_work ? pointwise_plan(g) : plan_for<float>(g);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const Geometry g, describe(call));
  CpuPlan result = plan_of(call.dtype(), g);
  result.cost_ns = g.work() * 0.02 + 500;
  return result;
}

}  // namespace

void implement(CpuTable& table) { table.set("conv2d", plan); }

}  // namespace stoker::kernels::conv2d::STOKER_ISA
