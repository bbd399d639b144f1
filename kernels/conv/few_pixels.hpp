// Convolutions with few output pixels, such as those of a window of sound: each row of weights is read once, and
// multiplied by the patches of all pixels while it is in the first-level cache. Memory sets the pace, as for a matrix
// times a vector; what blocks weights or packs them reads them more often than it uses them.
//
// Compiled once per instruction set.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/row.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Everything a run needs but its buffers; never changed.
class FewPixels {
 public:
  static constexpr std::int64_t most_pixels = 8;  ///< of all images
  static constexpr std::int64_t most_taps = 4096;

  /// Whether rows of weights lie whole in memory, are long, and meet few pixels.
  [[nodiscard]] static bool suit(const Problem& p) noexcept {
    if (p.flipped || p.batch_groups || p.kernel_block != 0) return false;
    if (p.images * p.pixels() > most_pixels || p.channels * p.taps() < 64) return false;
    if (p.taps() > most_taps) return false;  // a place is kept for each tap of each pixel
    std::int64_t dense = 1;
    for (std::size_t i = p.rank; i-- > 0; dense *= p.axes[i].taps)
      if (p.axes[i].taps > 1 && p.axes[i].k_step != dense) return false;
    return (p.channels == 1 || p.k_channel == dense) &&
           (p.outputs == 1 || p.k_output == dense * p.channels);
  }

  explicit FewPixels(const Problem& problem)
      : p{problem},
        terms{p.channels * p.taps()},
        pixels{p.images * p.pixels()},
        patches{static_cast<std::size_t>(p.groups * pixels)},
        rows{static_cast<std::size_t>(p.groups * p.outputs)},
        line_{(terms + 15) / 16 * 16},
        met_(static_cast<std::size_t>(pixels * p.taps())),
        y_(static_cast<std::size_t>(pixels)) {
    for (std::int64_t j = 0; j < pixels; ++j) locate(j);
  }

  /// Of the patches, each as long as a row of weights.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return patches * static_cast<std::size_t>(line_) * sizeof(float);
  }

  /// Patches [begin, end), in the order of groups, then pixels.
  void gather(const CpuArgs& args, SliceRange range) const noexcept {
    const std::int64_t taps = p.taps();
    for (auto patch = static_cast<std::int64_t>(range.begin);
         patch < static_cast<std::int64_t>(range.end); ++patch) {
      const float* const x = args.in<float>(0) + patch / pixels * p.x_group;
      const std::int64_t* const met = met_.data() + patch % pixels * taps;
      float* to = reinterpret_cast<float*>(args.scratch) + patch * line_;
      for (std::int64_t c = 0; c < p.channels; ++c, to += taps)
        for (std::int64_t t = 0; t < taps; ++t)
          to[t] = met[t] >= 0 ? x[c * p.x_channel + met[t]] : 0;
    }
  }

  /// Rows of weights [begin, end), in the order of groups, then outputs, times all patches of their group.
  void multiply(const CpuArgs& args, SliceRange range) const noexcept {
    for (auto row = static_cast<std::int64_t>(range.begin);
         row < static_cast<std::int64_t>(range.end); ++row) {
      const std::int64_t group = row / p.outputs, output = row % p.outputs;
      const float* weights =
          args.in<float>(1) + p.k_first + group * p.k_group + output * p.k_output;
      float sums[most_pixels];
      dots(weights, reinterpret_cast<const float*>(args.scratch) + group * pixels * line_, sums);
      const float bias = p.bias ? args.in<float>(2)[row] : 0;
      float* const y = args.out<float>() + group * p.y_group + output * p.y_output;
      for (std::int64_t j = 0; j < pixels; ++j) y[y_[static_cast<std::size_t>(j)]] = sums[j] + bias;
    }
  }

  const Problem p;
  const std::int64_t terms;
  const std::int64_t pixels;
  const std::size_t patches;
  const std::size_t rows;

 private:
  /// Where the pixel lies in the output, and what each tap of its window meets: an element of channel 0, or −1.
  void locate(std::int64_t j) noexcept {
    std::int64_t place[Problem::max_axes];  // of tap 0, in spread-out entries
    std::int64_t rest = j, y = 0;
    for (std::size_t axis = p.rank; axis-- > 0;) {
      const Axis& a = p.axes[axis];
      place[axis] = rest % a.out * a.stride - a.low;
      y += rest % a.out * a.y_step;
      rest /= a.out;
    }
    y_[static_cast<std::size_t>(j)] = y + rest * p.y_image;
    const std::int64_t taps = p.taps();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int64_t at = rest * p.x_image, left = tap;
      bool met = true;
      for (std::size_t axis = p.rank; axis-- > 0;) {
        const Axis& a = p.axes[axis];
        const std::int64_t i = place[axis] + left % a.taps * a.tap_step;
        left /= a.taps;
        met = met && i >= 0 && i % a.spread == 0 && i / a.spread < a.in;
        if (met) at += i / a.spread * a.x_step;
      }
      met_[static_cast<std::size_t>(j * taps + tap)] = met ? at : -1;
    }
  }

  void dots(const float* weights, const float* of, float* sums) const noexcept {
    std::int64_t j = 0;
    for (; j + 4 <= pixels; j += 4)
      mm::dots<4, float>(weights, of + j * line_, line_, terms, sums + j);
    for (; j + 2 <= pixels; j += 2)
      mm::dots<2, float>(weights, of + j * line_, line_, terms, sums + j);
    if (j < pixels) mm::dots<1, float>(weights, of + j * line_, line_, terms, sums + j);
  }

  const std::int64_t line_;  ///< from one patch to the next
  std::vector<std::int64_t> met_;
  std::vector<std::int64_t> y_;
};

/// For a problem of f32 that FewPixels suit.
[[nodiscard]] inline CpuPlan few_pixels_plan(const Problem& p) {
  const auto conv = std::make_shared<const FewPixels>(p);
  CpuPlan plan;
  plan.scratch_bytes = conv->scratch_bytes();
  const std::uint32_t gathers =
      std::min(slice_count(conv->patches * static_cast<std::size_t>(conv->terms), 1 << 14),
               static_cast<std::uint32_t>(std::clamp<std::size_t>(conv->patches, 1, 1 << 16)));
  const std::uint32_t slices =
      std::min(slice_count(static_cast<std::size_t>(p.work()), 1 << 16),
               static_cast<std::uint32_t>(std::clamp<std::size_t>(conv->rows, 1, 1 << 16)));
  const bool at_once = gathers == 1 && slices == 1;
  if (!at_once)
    plan.stages.push_back({gathers, [=](const CpuArgs& args, std::uint32_t index) {
                             conv->gather(args, slice_range(conv->patches, gathers, index, 1));
                           }});
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           if (at_once) conv->gather(args, {0, conv->patches});
                           conv->multiply(args, slice_range(conv->rows, slices, index, 1));
                         }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
