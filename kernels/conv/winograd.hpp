// Windows of 3 × 3 that meet every pixel, by fewer products: 2 × 2 outputs of a channel take 16 instead of 36.
//
//     y = Aᵀ [ sum over channels of (G k Gᵀ) · (Bᵀ x B) ] A      x: a patch of 4 × 4 pixels, k: 3 × 3 taps
//
// The products in the brackets are element by element, so that the sums over channels are 16 products of matrices,
// [patches, channels] times [channels, outputs] (A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016, F(2×2, 3×3)). B and A have no other numbers than 0 and ±1, G has halves: a sum is rounded
// a little more than the plain one, and as the largest numbers of its patch are, also where their taps are 0. What is
// not finite reaches the same outputs, but infinities may become NaN, and pixels beyond a quarter of the largest f32
// may overflow.
//
// Images have channels last, and run through here some patches at a time, which stay in the second-level cache.
// The order of each sum is decided by shapes alone, so slices change nothing. Compiled once per instruction set.
#pragma once

#include <algorithm>
#include <memory>

#include "stoker/kernels/conv/finished.hpp"
#include "stoker/kernels/matmul/blocks.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

/// Everything a run needs but its buffers. Shared by the slices of all runs; never changed.
class Winograd {
 public:
  [[nodiscard]] static bool suit(const Problem& p) noexcept {
    if (!p.winograd || p.rank != 2 || p.groups != 1 || p.kernel_block != 0 || p.bias) return false;
    if (p.channels % 16 != 0 || p.outputs % 16 != 0 || p.x_channel != 1) return false;
    const Axis &h = p.axes[0], &w = p.axes[1];
    for (const Axis& axis : {h, w})
      if (axis.taps != 3 || axis.stride != 1 || axis.tap_step != 1 || axis.spread != 1)
        return false;
    if (p.y_output != 1 || w.y_step != p.outputs || h.y_step != w.out * w.y_step ||
        p.y_image != h.out * h.y_step)
      return false;
    constexpr double least_work = 1 << 20;
    // Outputs beyond the edges of small images are computed for nothing.
    return p.work() >= least_work && p.images * p.pixels() >= winograd_pixels &&
           p.images * patches_of(h) * patches_of(w) * 5 <= p.images * p.pixels() * 2;
  }

  explicit Winograd(const Problem& problem)
      : p_{problem},
        h_{p_.axes[0]},
        w_{p_.axes[1]},
        lines_{p_.images * patches_of(h_)},
        line_{patches_of(w_)},
        panels_{(p_.outputs + width - 1) / width} {
    const std::int64_t wanted =
        slice_count(static_cast<std::size_t>(p_.work() * 4 / 9), std::size_t{1} << 19);
    bands_ = std::clamp<std::int64_t>(lines_ * line_ / at_once, 1, std::min(wanted, lines_));
    // Each part of the outputs transforms the patches anew, which takes far less than their products.
    constexpr std::int64_t least_outputs = 64;
    while (bands_ * parts_ < wanted && panels_ / (2 * parts_) * width >= least_outputs) parts_ *= 2;
    row_ = (panels_ + parts_ - 1) / parts_ * width;
    own_at_ = mm::round_up(places * panels_ * p_.channels * width, 16);
    // Places a power of two apart would share a few sets of the cache.
    patches_step_ = at_once * p_.channels + 16;
    sums_step_ = at_once * row_ + 16;
    own_ = places * (patches_step_ + sums_step_) + p_.channels;
  }

  /// Pairs of a panel of outputs and a channel, whose weights are transformed on their own.
  [[nodiscard]] std::int64_t weight_units() const noexcept { return panels_ * p_.channels; }
  [[nodiscard]] std::uint32_t slices() const noexcept {
    return static_cast<std::uint32_t>(bands_ * parts_);
  }
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return static_cast<std::size_t>(own_at_ + own_ * bands_ * parts_) * sizeof(float);
  }

  /// The weights of a unit, transformed: of each place [panel, channel, output].
  void transform_weights(const CpuArgs& args, std::int64_t unit) const noexcept {
    const std::int64_t panel = unit / p_.channels, channel = unit % p_.channels;
    const std::int64_t first = panel * width, outputs = std::min(width, p_.outputs - first);
    const float* const k =
        args.in<float>(1) + p_.k_first + first * p_.k_output + channel * p_.k_channel;
    float taps[3][3][width] = {};
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t s = 0; s < 3; ++s)
          taps[r][s][o] = k[o * p_.k_output + r * h_.k_step + s * w_.k_step];
    float* const to = reinterpret_cast<float*>(args.scratch) + unit * width;
    const std::int64_t step = panels_ * p_.channels * width;
    float down[4][3][width];
    for (int s = 0; s < 3; ++s) {
      float* const lines[] = {down[0][s], down[1][s], down[2][s], down[3][s]};
      spread(taps[0][s], taps[1][s], taps[2][s], lines);
    }
    for (int r = 0; r < 4; ++r) {
      float* const at = to + 4 * r * step;
      float* const lines[] = {at, at + step, at + 2 * step, at + 3 * step};
      spread(down[r][0], down[r][1], down[r][2], lines);
    }
  }

  /// Slice `index`: some lines of patches, and a part of the outputs. They are computed in the place of `target`.
  void run(const CpuArgs& args, std::uint32_t index, const mm::Target& target) const noexcept {
    const std::int64_t part = index % parts_, band = index / parts_;
    const SliceRange range =
        slice_range(static_cast<std::size_t>(lines_), static_cast<std::uint32_t>(bands_),
                    static_cast<std::uint32_t>(band), 1);
    const auto begin = static_cast<std::int64_t>(range.begin);
    const Outputs outputs{panels_ * part / parts_, panels_ * (part + 1) / parts_};
    float* const own = reinterpret_cast<float*>(args.scratch) + own_at_ + own_ * index;
    float* const zeros = own + places * (patches_step_ + sums_step_);
    std::fill_n(zeros, p_.channels, 0.0F);
    const Work work{args.in<float>(0),
                    reinterpret_cast<float*>(target.of(args)),
                    reinterpret_cast<const float*>(args.scratch),
                    zeros,
                    own,
                    own + places * patches_step_};
    const std::int64_t first = begin * line_;
    const std::int64_t end = static_cast<std::int64_t>(range.end) * line_;
    // Rounds of even size: few patches leave tiles of registers empty.
    const std::int64_t rounds = (end - first + at_once - 1) / at_once;
    const std::int64_t each = mm::round_up((end - first + rounds - 1) / rounds, mm::tile_rows);
    std::int64_t finished = begin;
    for (std::int64_t patch = first; patch < end; patch += each) {
      const std::int64_t count = std::min(each, end - patch);
      for (std::int64_t i = 0; i < count; ++i)
        take(work, patch + i, work.patches + i * p_.channels);
      multiply(work, count, outputs);
      for (std::int64_t i = 0; i < count; ++i) give(work, patch + i, work.sums + i * row_, outputs);
      for (; finished < (patch + count) / line_; ++finished)
        target.done(args, index, elements(finished, outputs));
    }
  }

 private:
  using Vector = mm::Simd<float>::Vector;
  using Unaligned = mm::Simd<float>::Unaligned;
  static constexpr std::int64_t width = mm::tile_columns<float>, lanes = mm::Simd<float>::lanes;
  static constexpr std::int64_t places = 16;
  /// Patches of a round: whole tiles of registers of every instruction set.
  static constexpr std::int64_t at_once = 24;

  /// Panels [begin, end).
  struct Outputs {
    std::int64_t begin, end;
  };
  struct Work {
    const float* x;
    float* y;
    const float* weights;
    const float* zeros;  ///< a pixel outside of the image
    float* patches;      ///< [place, patch, channel]
    float* sums;         ///< [place, patch, output]
  };

  [[nodiscard]] static std::int64_t patches_of(const Axis& axis) noexcept {
    return (axis.out + 1) / 2;
  }
  [[nodiscard]] static Vector load(const float* at) noexcept {
    return *reinterpret_cast<const Unaligned*>(at);
  }
  static void store(const Vector& v, float* at) noexcept { *reinterpret_cast<Unaligned*>(at) = v; }

  /// G times three weights, of a panel of outputs.
  static void spread(const float* a, const float* b, const float* c, float* const* to) noexcept {
#pragma GCC ivdep
    for (std::int64_t o = 0; o < width; ++o) {
      const float ends = a[o] + c[o];
      to[0][o] = a[o];
      to[1][o] = (ends + b[o]) * 0.5F;
      to[2][o] = (ends - b[o]) * 0.5F;
      to[3][o] = c[o];
    }
  }

  /// Transforms the pixels that a patch covers.
  void take(const Work& work, std::int64_t patch, float* to) const noexcept {
    const std::int64_t line = patch / line_, down = patches_of(h_);
    const std::int64_t top = line % down * 2 - h_.low, left = patch % line_ * 2 - w_.low;
    const float* const image = work.x + line / down * p_.x_image;
    const float* from[4][4];
    for (std::int64_t r = 0; r < 4; ++r)
      for (std::int64_t s = 0; s < 4; ++s) {
        const bool inside = top + r >= 0 && top + r < h_.in && left + s >= 0 && left + s < w_.in;
        from[r][s] = inside ? image + (top + r) * h_.x_step + (left + s) * w_.x_step : work.zeros;
      }
    const std::int64_t step = patches_step_;
    for (std::int64_t c = 0; c < p_.channels; c += lanes) {
      Vector rows[4][4];
#pragma GCC unroll 4
      for (int s = 0; s < 4; ++s) {
        const Vector a = load(from[0][s] + c), b = load(from[1][s] + c);
        const Vector d = load(from[2][s] + c), e = load(from[3][s] + c);
        rows[0][s] = a - d;
        rows[1][s] = b + d;
        rows[2][s] = d - b;
        rows[3][s] = b - e;
      }
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const auto& [a, b, d, e] = rows[r];
        float* const at = to + 4 * r * step + c;
        store(a - d, at);
        store(b + d, at + step);
        store(d - b, at + 2 * step);
        store(b - e, at + 3 * step);
      }
    }
  }

  /// The sums over channels of `count` patches.
  void multiply(const Work& work, std::int64_t count, const Outputs& outputs) const noexcept {
    for (std::int64_t place = 0; place < places; ++place) {
      const float* const left = work.patches + place * patches_step_;
      float* const sums = work.sums + place * sums_step_;
      for (std::int64_t panel = outputs.begin; panel < outputs.end; ++panel) {
        const mm::PackedColumns<float> right{work.weights +
                                             (place * panels_ + panel) * p_.channels * width};
        const std::int64_t columns = std::min(width, p_.outputs - panel * width);
        for (std::int64_t m = 0; m < count; m += mm::tile_rows)
          mm::tile(std::min(mm::tile_rows, count - m), columns, p_.channels,
                   mm::StridedRows<float>{left + m * p_.channels, p_.channels, 1}, right,
                   sums + m * row_ + (panel - outputs.begin) * width, row_, false);
      }
    }
  }

  /// Makes the outputs of a patch, but for those outside of the image.
  void give(const Work& work, std::int64_t patch, const float* sums,
            const Outputs& outputs) const noexcept {
    const std::int64_t line = patch / line_, down = patches_of(h_);
    const std::int64_t row = line % down * 2, column = patch % line_ * 2;
    float* const to = work.y + line / down * p_.y_image + row * h_.y_step + column * w_.y_step +
                      outputs.begin * width;
    const bool below = row + 1 < h_.out, right = column + 1 < w_.out;
    const std::int64_t count = std::min(p_.outputs, outputs.end * width) - outputs.begin * width;
    const std::int64_t step = sums_step_;
    for (std::int64_t o = 0; o < count; o += lanes) {
      Vector upper[4], lower[4];
#pragma GCC unroll 4
      for (int s = 0; s < 4; ++s) {
        const float* const at = sums + s * step + o;
        const Vector b = load(at + 4 * step), d = load(at + 8 * step);
        upper[s] = load(at) + b + d;
        lower[s] = b - d - load(at + 12 * step);
      }
      float* const at = to + o;
      store(upper[0] + upper[1] + upper[2], at);
      if (right) store(upper[1] - upper[2] - upper[3], at + w_.y_step);
      if (!below) continue;
      store(lower[0] + lower[1] + lower[2], at + h_.y_step);
      if (right) store(lower[1] - lower[2] - lower[3], at + h_.y_step + w_.y_step);
    }
  }

  /// What the patches of a line write.
  [[nodiscard]] mm::Elements elements(std::int64_t line, const Outputs& outputs) const noexcept {
    const std::int64_t down = patches_of(h_), row = line % down * 2, first = outputs.begin * width;
    const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    return {count(line / down * p_.y_image + row * h_.y_step + first),
            count(std::min<std::int64_t>(2, h_.out - row) * w_.out),
            count(std::min(p_.outputs, outputs.end * width) - first), count(p_.outputs)};
  }

  const Problem p_;
  const Axis h_, w_;
  const std::int64_t lines_;   ///< of patches, in all images
  const std::int64_t line_;    ///< patches of a line
  const std::int64_t panels_;  ///< of outputs
  std::int64_t bands_ = 1;     ///< of lines
  std::int64_t parts_ = 1;     ///< of outputs
  std::int64_t row_ = 0;       ///< from one patch's sums to the next one's
  // From one place to the next one, of a slice's patches and of its sums.
  std::int64_t patches_step_ = 0, sums_step_ = 0;
  // In scratch, in floats: first the weights, then what each slice has of its own.
  std::int64_t own_at_ = 0;
  std::int64_t own_ = 0;
};

/// For a problem of f32 that Winograd suits.
[[nodiscard]] inline CpuPlan winograd_plan(const Problem& p,
                                           std::shared_ptr<const mm::Finish> finish) {
  const auto conv = std::make_shared<const Winograd>(p);
  CpuPlan plan;
  plan.scratch_bytes = conv->scratch_bytes();
  const mm::Target target{std::move(finish), plan,
                          static_cast<std::size_t>(p.y_elements()) * sizeof(float), conv->slices()};
  const auto units = static_cast<std::size_t>(conv->weight_units());
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(units, slice_count(static_cast<std::size_t>(p.k_elements()), 32768)));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(units, slices, index, 1);
                           for (auto i = static_cast<std::int64_t>(range.begin);
                                i < static_cast<std::int64_t>(range.end); ++i)
                             conv->transform_weights(args, i);
                         }});
  plan.stages.push_back({conv->slices(), [=](const CpuArgs& args, std::uint32_t index) {
                           conv->run(args, index, target);
                         }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
