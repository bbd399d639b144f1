// The convolution over rows of pixels: a product of the weights with shifted planes (planes.hpp). Without
// the library's blocks of channels it suits few channels, and every type that kernels compute with.
//
// What is summed in which order is decided by shapes alone, so slices change nothing.
#pragma once

#include <memory>

#include "stoker/kernels/conv/planes.hpp"
#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/cpu_plan.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace convert = stoker::kernels::cpu::STOKER_ISA;

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
template <class S> struct ShiftedPlanes {
  using C = mm::Compute<S>;
  static constexpr std::int64_t width = mm::tile_columns<C>;
  static constexpr std::int64_t lanes = mm::Simd<C>::lanes;
  static constexpr std::int64_t tile_rows = mm::tile_rows;

  Planes planes;
  Problem p;
  Axis h, w;
  std::int64_t terms;      ///< of one output's sum: the taps of all channels
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

  explicit ShiftedPlanes(const Problem& problem)
      : planes{problem, std::is_same_v<S, C>},
        p{problem},
        h{p.down()},
        w{p.across()},
        terms{p.channels * p.taps()},
        rows{mm::round_up(p.outputs, tile_rows)} {
    const std::int64_t blocks = std::max<std::int64_t>((terms + most_taps() - 1) / most_taps(), 1);
    tap_block = (terms + blocks - 1) / blocks;
    row_panels = panels_of_row();
    streams = row_panels && blocks == 1 &&
              static_cast<std::size_t>(p.y_elements()) * sizeof(C) >= convert::stream_from_bytes;
    panels = row_panels ? h.out * row_panels : (planes.columns() + width - 1) / width;
    const std::int64_t cores = slice_count(std::size_t{1} << 30, 1) / 4;
    slices = slice_count(static_cast<std::size_t>(p.work()), std::size_t{1} << 19);
    by_image =
        !planes.in_place && (p.images >= 4 * cores || (p.images % cores == 0 && slices >= cores));
    slices =
        static_cast<std::uint32_t>(std::min<std::int64_t>(slices, by_image ? p.images : tiles()));
    planes_at = mm::round_up(p.groups * rows * terms, 16);
    const std::int64_t copies = planes.in_place ? 0 : by_image ? slices : p.images;
    // The last vector that a tap reads may begin inside the planes and end behind them.
    sums_at = planes_at + mm::round_up(copies * image_step() + 64, 16);
    // The last panel's columns are copied where the input serves as planes.
    sums_elements =
        row_panels ? 0 : mm::round_up(rows * width + (planes.in_place ? tap_block * width : 0), 16);
  }

  /// Panels within rows need no copy of their sums, but end in the middle of a vector: worth it only
  /// where that is rare, or never happens.
  [[nodiscard]] static bool suits_rows(const Axis& w) noexcept {
    return std::is_same_v<S, C> && mm::round_up(w.out, lanes) * 20 <= w.out * 21;
  }
  [[nodiscard]] std::int64_t panels_of_row() const noexcept {
    if (!suits_rows(w) || planes.in_place || terms == 0) return 0;
    return (mm::round_up(w.out, lanes) + width - 1) / width;
  }
  /// Those that are computed where the input does not serve as planes, in whole vectors.
  [[nodiscard]] static std::int64_t columns_of_image(const Problem& p) {
    const Axis h = p.down(), w = p.across();
    if (suits_rows(w)) return h.out * mm::round_up(w.out, lanes);
    return mm::round_up(Planes::columns(h, PlaneAxis{w}.sharing_padding()), lanes);
  }

  [[nodiscard]] std::int64_t tiles() const noexcept { return p.images * p.groups * panels; }
  /// From one group's planes to the next one's, and from one image's.
  [[nodiscard]] std::int64_t group_step() const noexcept {
    return p.channels * planes.per_channel();
  }
  [[nodiscard]] std::int64_t image_step() const noexcept { return p.groups * group_step(); }
  [[nodiscard]] std::int64_t weight_panels() const noexcept {
    return p.groups * (rows / tile_rows);
  }
  /// Where the output of one group, and of the first of its channels, begins.
  [[nodiscard]] S* output(const CpuArgs& args, std::int64_t image,
                          std::int64_t group) const noexcept {
    return args.out<S>() + image * p.y_image + group * p.y_group;
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
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(C));
    const std::int64_t lines =
        h.taps * planes.w.count() * (width / line + 1 + planes.w.reach() / line);
    return std::clamp(32768 / 64 * p.taps() / lines, std::int64_t{96}, mm::Block<C>::k);
  }

  /// One panel of weights, in blocks of taps: block after block, panel after panel in each.
  void pack_weights(const CpuArgs& args, std::int64_t panel) const noexcept {
    const std::int64_t group = panel / (rows / tile_rows);
    const std::int64_t m = panel % (rows / tile_rows) * tile_rows;
    const S* from = args.in<S>(1) + group * p.k_group + m * p.k_output;
    C* to = scratch(args, group * rows * terms);
    for (std::int64_t t = 0; t < terms; t += tap_block) {
      const std::int64_t taps = std::min(tap_block, terms - t);
      pack_taps(from, t, taps, std::min(tile_rows, p.outputs - m), to + m * taps);
      to += rows * taps;
    }
  }
  void pack_taps(const S* from, std::int64_t first, std::int64_t count, std::int64_t outputs,
                 C* to) const noexcept {
    const std::int64_t taps = p.taps();
    if (p.channels == 1 || p.k_channel == taps) {
      mm::pack_along<tile_rows>(from + first, p.k_output, outputs, count, to);
      return;
    }
    for (std::int64_t t = first; t < first + count; ++t, to += tile_rows) {
      const S* tap = from + t / taps * p.k_channel + t % taps;
      for (std::int64_t i = 0; i < outputs; ++i)
        convert::load_block(tap + i * p.k_output, to + i, 1);
      std::fill(to + outputs, to + tile_rows, C{});
    }
  }

  /// `channel` counts through all images; `to`: the planes of its image.
  void copy_channel(const CpuArgs& args, std::int64_t channel, C* to) const noexcept {
    const std::int64_t in_image = channel % planes.channels();
    planes.copy(args.in<S>(0), channel / planes.channels(), in_image,
                to + in_image * planes.per_channel());
  }

  [[nodiscard]] int find_runs(std::int64_t first, std::int64_t columns, Run* runs) const noexcept {
    const std::int64_t plane_w = planes.w.extent;
    if (plane_w == w.out && (h.y_step == w.out || h.out == 1)) {
      runs[0] = {0, first, columns};
      return 1;
    }
    int count = 0;
    for (std::int64_t i = first / plane_w; i * plane_w < first + columns; ++i) {
      const std::int64_t from = std::max(first, i * plane_w);
      const std::int64_t to = std::min(first + columns, i * plane_w + w.out);
      if (from < to) runs[count++] = {from - first, i * h.y_step + from - i * plane_w, to - from};
    }
    return count;
  }

  /// All outputs of one group for one panel of columns. `plane`: the first of the group.
  void run_tile(const CpuArgs& args, std::int64_t image, std::int64_t group, std::int64_t panel,
                const C* plane, C* sums) const noexcept {
    if constexpr (std::is_same_v<S, C>)
      if (row_panels) return run_in_row(args, image, group, panel, plane);
    const std::int64_t first = panel * width;
    const std::int64_t columns = std::min(width, planes.columns() - first);
    const std::int64_t whole = mm::round_up(columns, lanes);
    plane += first;

    const C* weights = scratch(args, group * rows * terms);
    C* const copied = sums + rows * width;
    // The input ends with its last element: whole vectors may not be read past it.
    const bool at_end = planes.in_place && panel == panels - 1;
    for (std::int64_t t = 0; t < terms; t += tap_block) {
      const std::int64_t taps = std::min(tap_block, terms - t);
      const std::int64_t* offsets = planes.offsets.data() + t;
      if (at_end) mm::pack_across<width>(plane + offsets[0], planes.step, columns, taps, copied);
      for (std::int64_t m = 0; m < p.outputs; m += tile_rows) {
        const std::int64_t outputs = std::min(tile_rows, p.outputs - m);
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
    if (terms == 0) std::fill_n(sums, p.outputs * width, C{});
    store(args, image, group, first, columns, sums);
  }

  /// The same for a panel within a row of the output: the sums are formed where they belong, or
  /// written there past the cache.
  void run_in_row(const CpuArgs& args, std::int64_t image, std::int64_t group, std::int64_t panel,
                  const C* plane) const noexcept {
    const std::int64_t row = panel / row_panels;
    const SliceRange range =
        slice_range(static_cast<std::size_t>(w.out), static_cast<std::uint32_t>(row_panels),
                    static_cast<std::uint32_t>(panel % row_panels), lanes);
    const auto first = static_cast<std::int64_t>(range.begin);
    const std::int64_t columns = static_cast<std::int64_t>(range.end) - first;
    plane += row * planes.w.extent + first;
    C* const to = output(args, image, group) + row * h.y_step + first;
    const C* bias = p.bias ? args.in<C>(2) + group * p.outputs : nullptr;
    const C* weights = scratch(args, group * rows * terms);
    alignas(64) C sums[tile_rows * width];
    for (std::int64_t t = 0; t < terms; t += tap_block) {
      const std::int64_t taps = std::min(tap_block, terms - t);
      const Shifted<C> right{plane, planes.offsets.data() + t};
      for (std::int64_t m = 0; m < p.outputs; m += tile_rows) {
        const std::int64_t outputs = std::min(tile_rows, p.outputs - m);
        C* const target = streams ? sums : to + m * p.y_output;
        const std::int64_t step = streams ? width : p.y_output;
        if (bias && t == 0)
          for (std::int64_t i = 0; i < outputs; ++i)
            std::fill_n(target + i * step, columns, bias[m + i]);
        mm::tile(outputs, columns, taps, mm::PackedRows<C>{weights + m * taps}, right, target, step,
                 t > 0 || bias);
        if (!streams) continue;
        for (std::int64_t i = 0; i < outputs; ++i)
          convert::stream_copy(to + (m + i) * p.y_output, sums + i * width,
                               static_cast<std::size_t>(columns) * sizeof(C));
      }
      weights += rows * taps;
    }
  }

  /// Adds the bias and writes what belongs to the output.
  void store(const CpuArgs& args, std::int64_t image, std::int64_t group, std::int64_t first,
             std::int64_t columns, C* sums) const noexcept {
    Run runs[width + 1];
    const int count = find_runs(first, columns, runs);
    for (std::int64_t m = 0; m < p.outputs; ++m, sums += width) {
      if (p.bias) {
        C bias;
        convert::load_block(args.in<S>(2) + group * p.outputs + m, &bias, 1);
        for (std::int64_t j = 0; j < width; ++j) sums[j] += bias;
      }
      S* to = output(args, image, group) + m * p.y_output;
      for (int i = 0; i < count; ++i)
        convert::store_block(static_cast<const C*>(sums + runs[i].column), to + runs[i].pixel,
                             static_cast<std::size_t>(runs[i].length));
    }
  }

  void run(const CpuArgs& args, std::uint32_t index) const noexcept {
    by_image ? run_images(args, index) : run_tiles(args, index);
    if (streams) convert::stream_fence();
  }

 private:
  /// Slice `index` where each copies the images it computes.
  void run_images(const CpuArgs& args, std::uint32_t index) const noexcept {
    C* const copies = scratch(args, planes_at + index * image_step());
    C* const sums = scratch(args, sums_at + index * sums_elements);
    const SliceRange range = slice_range(static_cast<std::size_t>(p.images), slices, index, 1);
    for (auto image = static_cast<std::int64_t>(range.begin);
         image < static_cast<std::int64_t>(range.end); ++image) {
      for (std::int64_t c = 0; c < planes.channels(); ++c)
        copy_channel(args, image * planes.channels() + c, copies);
      for (std::int64_t group = 0; group < p.groups; ++group)
        for (std::int64_t panel = 0; panel < panels; ++panel)
          run_tile(args, image, group, panel, copies + group * group_step(), sums);
    }
  }

  /// Slice `index` where the planes of all images are there.
  void run_tiles(const CpuArgs& args, std::uint32_t index) const noexcept {
    C* const sums = scratch(args, sums_at + index * sums_elements);
    const SliceRange range = slice_range(static_cast<std::size_t>(tiles()), slices, index, 1);
    for (auto tile = static_cast<std::int64_t>(range.begin);
         tile < static_cast<std::int64_t>(range.end); ++tile) {
      const std::int64_t image = tile / panels / p.groups, group = tile / panels % p.groups;
      const C* plane = scratch(args, planes_at) + image * image_step() + group * group_step();
      if constexpr (std::is_same_v<S, C>)
        if (planes.in_place) plane = args.in<S>(0) + image * p.x_image + group * p.x_group;
      run_tile(args, image, group, tile % panels, plane, sums);
    }
  }
};

/// For a problem that Planes::suit() takes.
template <class S> [[nodiscard]] CpuPlan shifted_plan(const Problem& p) {
  const auto conv = std::make_shared<const ShiftedPlanes<S>>(p);
  CpuPlan plan;
  plan.scratch_bytes = conv->scratch_bytes();

  // First the weights, and the planes if slices share them: a panel or a channel is a unit.
  const std::int64_t weights = conv->weight_panels();
  const std::int64_t channels =
      conv->planes.in_place || conv->by_image ? 0 : p.images * conv->planes.channels();
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
           const std::int64_t image = channel / conv->planes.channels();
           conv->copy_channel(args, channel,
                              conv->scratch(args, conv->planes_at + image * conv->image_step()));
         }
       }});
  plan.stages.push_back(
      {conv->slices, [conv](const CpuArgs& args, std::uint32_t index) { conv->run(args, index); }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
