// Convolutions of few channels by vectors of outputs: a tile is some pixels of a row times some vectors of outputs,
//
//     y[i, j + p, o…] = sum over terms t of x[offset(t) + p] · k[t][o…]      o…: neighbouring outputs
//
// whose sums stay in registers. A lane is an output, and a pixel is broadcast to all lanes, so rows may end anywhere,
// and no lane is idle where outputs fill vectors. A slice copies a band of rows with its padding, which then stays in
// its second-level cache, and forms its outputs. Bias and relu are applied before the sums leave the registers.
//
// The order of each sum is decided by shapes alone, so slices change nothing. Compiled once per instruction set.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/kernels/conv/finished.hpp"
#include "stoker/kernels/matmul/blocks.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

/// Everything a run needs but its buffers. Shared by the slices of all runs; never changed.
class OutputLanes {
 public:
  static constexpr std::int64_t lanes = mm::Simd<float>::lanes;
  static constexpr std::int64_t vectors = 2;
  static constexpr std::int64_t width = vectors * lanes;  ///< outputs of a panel
  static constexpr std::int64_t most_terms = 640;         ///< their weights stay in the caches

  /// Whether this serves: one group of few terms, outputs that fill most lanes, no dilated input, no padding that is
  /// larger than the image, rows of taps close to each other, pixels of a row beside each other in the input, alone or
  /// with all their channels, and pixels or outputs beside each other in the output.
  [[nodiscard]] static bool suit(const Problem& p) noexcept {
    if (p.groups != 1 || p.kernel_block != 0) return false;
    if (p.rank < 1 || p.rank > 2 || p.y_elements() == 0) return false;
    const Axis h = p.down(), w = p.across();
    if (h.spread != 1 || w.spread != 1 || h.in == 0 || w.in == 0) return false;
    const std::int64_t terms = p.channels * p.taps();
    if (terms == 0 || terms > most_terms) return false;
    if (p.outputs * 4 < mm::round_up(p.outputs, lanes) * 3) return false;
    // A band has all rows between its taps.
    constexpr std::int64_t farthest_rows = 4;
    if (h.tap_step > farthest_rows) return false;
    // Padding beside a small image, which is copied and summed like it.
    if (h.reach() > 2 * h.in + 16 || w.reach() > 2 * w.in + 16) return false;
    if (h.out * h.stride > 2 * h.in + 16 || w.out * w.stride > 2 * w.in + 16) return false;
    return (w.x_step == 1 || has_channels_last(p)) && (writes_outputs(p) || writes_pixels(p));
  }

  /// The slices that this much work is worth.
  [[nodiscard]] static std::int64_t slices_wanted(const Problem& p) noexcept {
    return static_cast<std::int64_t>(slice_count(static_cast<std::size_t>(p.work()), 1 << 19));
  }

  /// `last`: the bias and relu that each sum is finished with; nothing for sums alone.
  OutputLanes(const Problem& problem, const std::optional<mm::ShortFinish>& last)
      : p_{problem}, h_{p_.down()}, w_{p_.across()}, terms_{p_.channels * p_.taps()} {
    if (last && last->bias) bias_ = last->bias->input;
    if (p_.bias) bias_ = 2;
    relu_ = last && last->relu;
    panels_ = (p_.outputs + width - 1) / width;
    pixel_ = has_channels_last(p_) ? p_.channels : 1;
    line_ = ((w_.out - 1) * w_.stride + w_.reach()) * pixel_;
    const std::int64_t wanted = slices_wanted(p_);
    constexpr std::int64_t band_elements = 12 << 10;
    const std::int64_t line_of_channels = line_ * (p_.channels / pixel_);
    rows_ = band_elements / line_of_channels - h_.reach();
    rows_ = std::clamp<std::int64_t>(rows_ / h_.stride + 1, 1, h_.out);
    const std::int64_t bands_wanted = std::min((wanted + p_.images - 1) / p_.images, h_.out);
    rows_ = std::min(rows_, (h_.out + bands_wanted - 1) / bands_wanted);
    bands_ = (h_.out + rows_ - 1) / rows_;
    slices_ = static_cast<std::uint32_t>(std::min(wanted, p_.images * bands_));
    plane_ = mm::round_up(((rows_ - 1) * h_.stride + h_.reach()) * line_, 16) + 16;
    for (std::int64_t c = 0; c < p_.channels; ++c)
      for (std::int64_t r = 0; r < h_.taps; ++r)
        for (std::int64_t s = 0; s < w_.taps; ++s)
          offsets_.push_back((pixel_ > 1 ? c : c * plane_) + r * h_.tap_step * line_ +
                             s * w_.tap_step * pixel_);
    constexpr std::int64_t chunk_pixels = 64;
    chunk_ = std::clamp<std::int64_t>(chunk_pixels / w_.out, 1, rows_);
    own_at_ = mm::round_up(panels_ * terms_ * width, 16);
    sums_at_ = mm::round_up(plane_ * (p_.channels / pixel_), 16);
    own_ = sums_at_ + mm::round_up(chunk_ * w_.out + 8, 8) * width;
  }

  [[nodiscard]] std::uint32_t slices() const noexcept { return slices_; }
  [[nodiscard]] std::int64_t panels() const noexcept { return panels_; }
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return static_cast<std::size_t>(own_at_ + own_ * slices_) * sizeof(float);
  }
  [[nodiscard]] double weight_elements() const noexcept {
    return static_cast<double>(p_.k_elements());
  }

  /// One panel of weights: of each term the outputs side by side, zeros past the last.
  void pack(const CpuArgs& args, std::int64_t panel) const noexcept {
    const std::int64_t first = panel * width, outputs = std::min(width, p_.outputs - first);
    const float* from = args.in<float>(1) + p_.k_first + first * p_.k_output;
    float* to = reinterpret_cast<float*>(args.scratch) + first * terms_;
    const bool rows_dense = w_.taps == 1 || w_.k_step == 1;
    const bool taps_dense = rows_dense && (h_.taps == 1 || h_.k_step == w_.taps);
    if (taps_dense && (p_.channels == 1 || p_.k_channel == p_.taps())) {
      mm::pack_along<width>(from, p_.k_output, outputs, terms_, to);
      return;
    }
    for (std::int64_t c = 0; c < p_.channels; ++c)
      for (std::int64_t r = 0; r < h_.taps; ++r)
        for (std::int64_t s = 0; s < w_.taps; ++s, to += width) {
          const float* tap = from + c * p_.k_channel + r * h_.k_step + s * w_.k_step;
          for (std::int64_t o = 0; o < outputs; ++o) to[o] = tap[o * p_.k_output];
          std::fill(to + outputs, to + width, 0.0F);
        }
  }

  void run(const CpuArgs& args, std::uint32_t index) const noexcept {
    float* const own = reinterpret_cast<float*>(args.scratch) + own_at_ + own_ * index;
    const SliceRange range =
        slice_range(static_cast<std::size_t>(p_.images * bands_), slices_, index, 1);
    for (auto unit = static_cast<std::int64_t>(range.begin);
         unit < static_cast<std::int64_t>(range.end); ++unit) {
      const std::int64_t image = unit / bands_, first = unit % bands_ * rows_;
      const std::int64_t rows = std::min(rows_, h_.out - first);
      copy_band(args.in<float>(0) + image * p_.x_image, first, rows, own);
      for (std::int64_t panel = 0; panel < panels_; ++panel)
        run_panel(args, image, panel, first, rows, own);
    }
  }

 private:
  using Vector = mm::Simd<float>::Vector;
  using Unaligned = mm::Simd<float>::Unaligned;
  // Sums of a tile: enough to hide an addition's latency, and no more than registers hold.
  static constexpr int most_pixels = lanes == 16 ? 12 : lanes == 8 ? 6 : 4;

  [[nodiscard]] static bool has_channels_last(const Problem& p) noexcept {
    return p.channels > 1 && p.x_channel == 1 && p.across().x_step == p.channels;
  }
  [[nodiscard]] static bool writes_outputs(const Problem& p) noexcept { return p.y_output == 1; }
  [[nodiscard]] static bool writes_pixels(const Problem& p) noexcept {
    return p.across().y_step == 1 && (p.down().out == 1 || p.down().y_step == p.across().out);
  }

  /// The rows that output rows [first, first + rows) read, with what lies beside the image.
  void copy_band(const float* image, std::int64_t first, std::int64_t rows,
                 float* to) const noexcept {
    const std::int64_t lines = (rows - 1) * h_.stride + h_.reach();
    const std::int64_t columns = line_ / pixel_;
    // Places [left, right) of a line lie inside the image.
    const std::int64_t left = std::clamp<std::int64_t>(w_.low, 0, columns);
    const std::int64_t right = std::clamp<std::int64_t>(w_.in + w_.low, left, columns);
    for (std::int64_t c = 0; c < p_.channels / pixel_; ++c, to += plane_)
      for (std::int64_t i = 0; i < lines; ++i) {
        float* const line = to + i * line_;
        const std::int64_t y = first * h_.stride + i - h_.low;
        if (y < 0 || y >= h_.in) {
          std::fill_n(line, line_, 0.0F);
          continue;
        }
        const float* from = image + c * p_.x_channel + y * h_.x_step + (left - w_.low) * pixel_;
        std::fill_n(line, left * pixel_, 0.0F);
        std::copy_n(from, (right - left) * pixel_, line + left * pixel_);
        std::fill(line + right * pixel_, line + line_, 0.0F);
      }
  }

  /// What is done at the end of each sum of a panel.
  struct Ending {
    alignas(64) float bias[width];
    bool adds;
    bool relu;
  };

  void run_panel(const CpuArgs& args, std::int64_t image, std::int64_t panel, std::int64_t first,
                 std::int64_t rows, float* own) const noexcept {
    const std::int64_t output = panel * width, outputs = std::min(width, p_.outputs - output);
    const float* weights = reinterpret_cast<const float*>(args.scratch) + output * terms_;
    Ending ending{{}, bias_ != 0, relu_};
    if (ending.adds) std::copy_n(args.in<float>(bias_) + output, outputs, ending.bias);
    float* const y = args.out<float>() + image * p_.y_image + output * p_.y_output;
    float* const sums = own + sums_at_;
    const std::int64_t step = h_.stride * line_;
    if (writes_outputs(p_) && outputs % lanes == 0) {
      for (std::int64_t i = 0; i < rows; ++i)
        run_row(weights, outputs, own + i * step, ending, y + (first + i) * h_.y_step, w_.y_step);
      return;
    }
    for (std::int64_t i = 0; i < rows; i += chunk_) {
      const std::int64_t here = std::min(chunk_, rows - i);
      for (std::int64_t k = 0; k < here; ++k)
        run_row(weights, outputs, own + (i + k) * step, ending, sums + k * w_.out * width, width);
      if (writes_pixels(p_))
        put_pixels(sums, outputs, here * w_.out, y + (first + i) * w_.out);
      else
        put_outputs(sums, outputs, here, y + (first + i) * h_.y_step);
    }
  }

  /// Sums [pixel, output] as planes of pixels, one for each output.
  void put_pixels(const float* sums, std::int64_t outputs, std::int64_t pixels,
                  float* y) const noexcept {
    alignas(64) float turned[64];
    for (std::int64_t o = 0; o < outputs; o += 8) {
      const std::int64_t count = std::min<std::int64_t>(8, outputs - o);
      for (std::int64_t j = 0; j < pixels; j += 8) {
        float* const to = y + o * p_.y_output + j;
        const std::int64_t n = std::min<std::int64_t>(8, pixels - j);
        if (n == 8 && count == 8) {
          mm::transpose_8x8(sums + j * width + o, width, to, p_.y_output);
          continue;
        }
        mm::transpose_8x8(sums + j * width + o, width, turned, 8);
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(turned + i * 8, n, to + i * p_.y_output);
      }
    }
  }
  void put_outputs(const float* sums, std::int64_t outputs, std::int64_t rows,
                   float* y) const noexcept {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < w_.out; ++j, sums += width)
        std::copy_n(sums, outputs, y + i * h_.y_step + j * w_.y_step);
  }

  struct Tile {
    std::int64_t terms;
    const float* weights;
    const std::int64_t* offsets;
    std::int64_t step;  ///< from pixel to pixel
    const Ending& ending;
    std::int64_t to_step;
  };

  /// P pixels times V vectors of outputs. Step: of the tile, or 0 where it is known at run time only.
  template <int P, int V, std::int64_t Step>
  static void tile(const Tile& of, const float* x, float* to) noexcept {
    const std::int64_t step = Step != 0 ? Step : of.step;
    const std::int64_t terms = of.terms;
    const std::int64_t* const offsets = of.offsets;
    const float* weights = of.weights;
    Vector sum[P][V] = {};
    for (std::int64_t t = 0; t < terms; ++t, weights += width) {
      const float* const at = x + offsets[t];
      Vector right[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v)
        right[v] = *reinterpret_cast<const Unaligned*>(weights + v * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < P; ++i) {
        const float left = at[i * step];
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] += left * right[v];
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < P; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        Vector value = sum[i][v];
        if (of.ending.adds)
          value += *reinterpret_cast<const Unaligned*>(of.ending.bias + v * lanes);
        if (of.ending.relu) value = value <= 0 ? Vector{} : value;  // NaN stays
        *reinterpret_cast<Unaligned*>(to + i * of.to_step + v * lanes) = value;
      }
  }
  using TileFunction = void (*)(const Tile&, const float*, float*) noexcept;
  template <int V, std::int64_t Step, std::size_t... I>
  static constexpr std::array<TileFunction, sizeof...(I)> tiles(std::index_sequence<I...>) {
    return {&tile<static_cast<int>(I) + 1, V, Step>...};
  }

  /// All pixels of a row of the output, in tiles of much the same size.
  void run_row(const float* weights, std::int64_t outputs, const float* x, const Ending& ending,
               float* to, std::int64_t to_step) const noexcept {
    using Sizes = std::make_index_sequence<most_pixels>;
    using Longer = std::make_index_sequence<std::size_t{8} + (lanes == 16 ? 8 : 0)>;
    static constexpr auto wide = tiles<2, 1>(Sizes{}), wide_apart = tiles<2, 0>(Sizes{});
    static constexpr auto narrow = tiles<1, 1>(Longer{}), narrow_apart = tiles<1, 0>(Longer{});
    const std::int64_t step = w_.stride * pixel_;
    const bool is_wide = outputs > lanes;
    const TileFunction* const functions = is_wide ? (step == 1 ? wide.data() : wide_apart.data())
                                          : step == 1 ? narrow.data()
                                                      : narrow_apart.data();
    const auto most = static_cast<std::int64_t>(is_wide ? wide.size() : narrow.size());
    const Tile of{terms_, weights, offsets_.data(), step, ending, to_step};
    const std::int64_t count = (w_.out + most - 1) / most;
    std::int64_t from = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t end = w_.out * (i + 1) / count;
      functions[end - from - 1](of, x + from * step, to + from * to_step);
      from = end;
    }
  }

  Problem p_;
  Axis h_, w_;
  std::int64_t terms_;
  std::vector<std::int64_t> offsets_ = {};  ///< of each term, from the first pixel's first one
  std::size_t bias_ = 0;                    ///< the input that is added; 0: none
  bool relu_ = false;
  std::int64_t panels_ = 0;
  std::int64_t pixel_ = 1;  ///< elements from pixel to pixel of a band
  std::int64_t line_ = 0;   ///< from row to row
  std::int64_t plane_ = 0;  ///< from channel to channel, if pixels do not hold all of them
  std::int64_t rows_ = 1;   ///< of the output, in a band
  std::int64_t bands_ = 1;  ///< of an image
  std::int64_t chunk_ = 1;  ///< rows whose sums are put in order together
  std::uint32_t slices_ = 1;
  // Where things lie in scratch, in elements: the weights, and for each slice its band and its sums.
  std::int64_t own_at_ = 0;
  std::int64_t sums_at_ = 0;
  std::int64_t own_ = 0;
};

/// For a problem of f32 that OutputLanes suit.
[[nodiscard]] inline CpuPlan output_lanes_plan(const Problem& p,
                                               const std::optional<mm::ShortFinish>& last) {
  const auto conv = std::make_shared<const OutputLanes>(p, last);
  CpuPlan plan;
  plan.scratch_bytes = conv->scratch_bytes();
  const auto panels = static_cast<std::size_t>(conv->panels());
  const auto packers = static_cast<std::uint32_t>(std::min<std::size_t>(
      panels, slice_count(static_cast<std::size_t>(conv->weight_elements()), 32768)));
  plan.stages.push_back({packers, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(panels, packers, index, 1);
                           for (std::size_t panel = range.begin; panel < range.end; ++panel)
                             conv->pack(args, static_cast<std::int64_t>(panel));
                         }});
  plan.stages.push_back(
      {conv->slices(), [=](const CpuArgs& args, std::uint32_t index) { conv->run(args, index); }});
  return plan;
}

}  // namespace stoker::kernels::conv::STOKER_ISA
