// The convolution that takes everything: a tile of the output is a product of the weights with the
// input's patches, which are gathered as the product needs them.
//
//     y[o, j] = sum over (t, c) of k[o, (t, c)] · patch[(t, c), j]      j: output pixels of all images
//
// Each output is summed in an order that its shape alone decides, so slices change nothing.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/tile.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// The left side of the product: packed weights of the taps that meet the input.
template <class T> struct MetRows {
  const T* data;
  const std::int64_t* met;
  const T& operator()(std::int64_t i, std::int64_t t) const noexcept { return data[met[t] + i]; }
  [[nodiscard]] MetRows from(std::int64_t row) const noexcept { return {data + row, met}; }
};

/// The right side: patches side by side.
template <class T> struct Patches {
  const T* data;
  const T* operator[](std::int64_t t) const noexcept { return data + t * mm::tile_columns<T>; }
};

/// Everything a run needs but its buffers; never changed.
template <class T> class Direct {
 public:
  static constexpr std::int64_t width = mm::tile_columns<T>;
  static constexpr std::int64_t rows = mm::tile_rows;
  static constexpr std::int64_t depth = 256;  // so many patches stay in the first-level cache

  explicit Direct(const Problem& problem)
      : p{problem},
        terms{p.channels * p.taps()},
        row_panels{(p.outputs + rows - 1) / rows},
        columns{p.images * p.pixels()},
        tiles{p.groups * ((columns + width - 1) / width)},
        slices{static_cast<std::uint32_t>(std::clamp<std::int64_t>(
            tiles, 1, slice_count(static_cast<std::size_t>(p.work()), std::size_t{1} << 16)))},
        packed{round(p.groups * row_panels * rows * terms)},
        own{round((row_panels * rows + depth) * width)} {}

  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return static_cast<std::size_t>(packed + own * slices) * sizeof(T);
  }

  /// One panel of weights: for each tap and channel `rows` outputs side by side, zeros past the end.
  void pack(const T* k, T* scratch, std::int64_t panel) const noexcept {
    const std::int64_t group = panel / row_panels, first = panel % row_panels * rows;
    const T* from = k + p.k_first + group * p.k_group + first * p.k_output;
    T* to = scratch + panel * rows * terms;
    const std::int64_t taps = p.taps();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int64_t at = 0;
      for (std::int64_t rest = tap, axis = last(); axis >= 0; --axis) {
        const Axis& a = p.axes[static_cast<std::size_t>(axis)];
        at += rest % a.taps * a.k_step;
        rest /= a.taps;
      }
      for (std::int64_t c = 0; c < p.channels; ++c, to += rows)
        for (std::int64_t i = 0; i < rows; ++i)
          to[i] = first + i < p.outputs ? from[at + c * p.k_channel + i * p.k_output] : T{};
    }
  }

  /// `bias`: a number for each output of each group, or null.
  void run(const T* x, const T* bias, T* y, T* scratch, std::uint32_t index) const noexcept {
    const SliceRange range = slice_range(static_cast<std::size_t>(tiles), slices, index, 1);
    T* sums = scratch + packed + own * index;
    const std::int64_t of_group = std::max<std::int64_t>(tiles / p.groups, 1);
    for (auto tile = static_cast<std::int64_t>(range.begin);
         tile < static_cast<std::int64_t>(range.end); ++tile)
      run_tile(x, bias, y, scratch, tile / of_group, tile % of_group * width, sums);
  }

  const Problem p;
  const std::int64_t terms;
  const std::int64_t row_panels;
  const std::int64_t columns;
  const std::int64_t tiles;
  const std::uint32_t slices;

 private:
  static std::int64_t round(std::int64_t n) noexcept { return (n + 15) / 16 * 16; }
  [[nodiscard]] std::int64_t last() const noexcept { return static_cast<std::int64_t>(p.rank) - 1; }

  /// The output pixels of a tile.
  struct Columns {
    std::int64_t count;
    std::int64_t x[width];                         // of its image
    std::int64_t y[width];                         // of its pixel
    std::int64_t place[Problem::max_axes][width];  // of tap 0, in spread-out entries
  };

  void locate(std::int64_t group, std::int64_t first, Columns& to) const noexcept {
    to.count = std::min(width, columns - first);
    for (std::int64_t j = 0; j < to.count; ++j) {
      std::int64_t rest = first + j;
      to.y[j] = group * p.y_group;
      for (std::int64_t axis = last(); axis >= 0; --axis) {
        const Axis& a = p.axes[static_cast<std::size_t>(axis)];
        const std::int64_t i = rest % a.out;
        rest /= a.out;
        to.place[axis][j] = i * a.stride - a.low;
        to.y[j] += i * a.y_step;
      }
      to.x[j] = group * p.x_group + rest * p.x_image;
      to.y[j] += rest * p.y_image;
    }
  }

  /// Where each column's element of a tap lies, or −1; whether there is any.
  bool meet(const Columns& of, std::int64_t tap, std::int64_t* at) const noexcept {
    std::copy_n(of.x, of.count, at);
    for (std::int64_t rest = tap, axis = last(); axis >= 0; --axis) {
      const Axis& a = p.axes[static_cast<std::size_t>(axis)];
      const std::int64_t shift = rest % a.taps * a.tap_step;
      rest /= a.taps;
      for (std::int64_t j = 0; j < of.count; ++j) {
        std::int64_t i = of.place[axis][j] + shift;
        bool met = i >= 0;
        if (a.spread > 1) {
          met = met && i % a.spread == 0;
          i /= a.spread;
        }
        at[j] = met && i < a.in && at[j] >= 0 ? at[j] + i * a.x_step : -1;
      }
    }
    return std::any_of(at, at + of.count, [](std::int64_t one) { return one >= 0; });
  }

  void run_tile(const T* x, const T* bias, T* y, const T* weights, std::int64_t group,
                std::int64_t first, T* sums) const noexcept {
    Columns of;
    locate(group, first, of);
    T* const patches = sums + row_panels * rows * width;
    std::int64_t met[depth];
    std::int64_t at[width];
    std::int64_t held = 0;
    bool begun = false;
    const auto flush = [&] {
      if (held == 0) return;
      for (std::int64_t panel = 0; panel < row_panels; ++panel) {
        const T* left = weights + (group * row_panels + panel) * rows * terms;
        mm::tile(std::min(rows, p.outputs - panel * rows), width, held, MetRows<T>{left, met},
                 Patches<T>{patches}, sums + panel * rows * width, width, begun);
      }
      begun = true;
      held = 0;
    };
    const std::int64_t taps = p.channels == 0 ? 0 : p.taps();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      if (!meet(of, tap, at)) continue;
      for (std::int64_t c = 0; c < p.channels; ++c) {
        T* to = patches + held * width;
        const T* from = x + c * p.x_channel;
        for (std::int64_t j = 0; j < of.count; ++j) to[j] = at[j] >= 0 ? from[at[j]] : T{};
        for (std::int64_t j = of.count; j < width; ++j) to[j] = T{};
        met[held++] = (tap * p.channels + c) * rows;
        if (held == depth) flush();
      }
    }
    flush();
    for (std::int64_t o = 0; o < p.outputs; ++o) {
      T* to = y + o * p.y_output;
      const T added = bias ? bias[group * p.outputs + o] : T{};
      for (std::int64_t j = 0; j < of.count; ++j)
        to[of.y[j]] = begun ? sums[o * width + j] + added : added;
    }
  }

  const std::int64_t packed;
  const std::int64_t own;
};

template <class T> [[nodiscard]] CpuPlan direct_plan(const Problem& p) {
  const auto conv = std::make_shared<const Direct<T>>(p);
  CpuPlan plan;
  plan.scratch_bytes = conv->scratch_bytes();
  const auto panels = static_cast<std::size_t>(p.groups * conv->row_panels);
  const auto packers = static_cast<std::uint32_t>(std::clamp<std::size_t>(
      panels, 1,
      slice_count(panels * static_cast<std::size_t>(conv->terms * mm::tile_rows), 32768)));
  plan.stages.push_back({packers, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(panels, packers, index, 1);
                           for (std::size_t panel = range.begin; panel < range.end; ++panel)
                             conv->pack(args.in<T>(1), reinterpret_cast<T*>(args.scratch),
                                        static_cast<std::int64_t>(panel));
                         }});
  plan.stages.push_back({conv->slices, [=](const CpuArgs& args, std::uint32_t index) {
                           conv->run(args.in<T>(0), conv->p.bias ? args.in<T>(2) : nullptr,
                                     args.out<T>(), reinterpret_cast<T*>(args.scratch), index);
                         }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
