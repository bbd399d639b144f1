// The input of a convolution over rows of pixels, copied so that every tap reads it forward.
//
// Each channel is padded with zeros and, where the stride is not 1, dealt out by the remainders of
// its coordinates: pixels that one tap reads for neighbouring outputs then are neighbours too. Taken
// as flat arrays `plane_w` wide, the copies turn a convolution into sums of shifted planes:
//
//     y[p] = sum over taps t of w[t] · plane[offset(t) + p],     p = i·plane_w + j
//
// which is a matrix product whose right side needs no further packing. Of each plane_w columns the
// last few belong to no output; they are computed and dropped.
#pragma once

#include <vector>

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/matmul/blocks.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// The remainders of one axis that taps read, and the extent of a plane along it.
struct PlaneAxis {
  Axis of;
  std::vector<std::int64_t> remainders;
  std::int64_t extent;

  explicit PlaneAxis(const Axis& axis) : of{axis}, extent{axis.out + reach()} {
    for (std::int64_t tap = 0; tap < of.taps; ++tap) {
      const std::int64_t remainder = tap * of.tap_step % of.stride;
      if (std::find(remainders.begin(), remainders.end(), remainder) == remainders.end())
        remainders.push_back(remainder);
    }
  }
  /// The largest shift.
  [[nodiscard]] std::int64_t reach() const noexcept { return shift(of.taps - 1); }
  /// Makes rows so short that the zeros right of one are those left of the next: a tap that runs
  /// past a row's end may read there as long as both are padding.
  [[nodiscard]] PlaneAxis sharing_padding() const {
    std::int64_t shared = of.out;
    for (const std::int64_t remainder : remainders) {
      const std::int64_t zeros =
          std::max<std::int64_t>(0, (of.low - remainder + of.stride - 1) / of.stride);
      const std::int64_t end = (of.in + of.low - remainder + of.stride - 1) / of.stride;
      shared = std::max({shared, end, of.out + reach() - zeros});
    }
    PlaneAxis result = *this;
    result.extent = std::min(extent, shared);
    return result;
  }
  /// Which of the remainders `tap` reads.
  [[nodiscard]] std::int64_t index(std::int64_t tap) const noexcept {
    return std::find(remainders.begin(), remainders.end(), tap * of.tap_step % of.stride) -
           remainders.begin();
  }
  /// How far into the plane it begins.
  [[nodiscard]] std::int64_t shift(std::int64_t tap) const noexcept {
    return tap * of.tap_step / of.stride;
  }
  /// The tap that lies `at` places behind the first in memory.
  [[nodiscard]] std::int64_t tap_at(std::int64_t at) const noexcept {
    return of.k_step < 0 ? of.taps - 1 - at : at;
  }
  [[nodiscard]] auto count() const noexcept { return static_cast<std::int64_t>(remainders.size()); }
};

/// Planes and taps in the order of memory: [images, groups, channels, remainders] and [channels, taps].
struct Planes {
  Problem p;
  PlaneAxis h;
  PlaneAxis w;
  std::int64_t step = 0;              ///< elements from plane to plane
  bool in_place;                      ///< the input itself serves as planes
  std::vector<std::int64_t> offsets;  ///< of each tap of a group, from the group's first plane

  /// Whether pixels of a row are neighbours in the input and in the output, and taps in the kernel, and
  /// planes are not many times as large as what they are made from and for.
  [[nodiscard]] static bool suit(const Problem& p) {
    if (p.rank > 2 || p.taps() == 0) return false;
    const Axis h = p.down(), w = p.across();
    const bool neighbours = h.spread == 1 && w.spread == 1 && (w.x_step == 1 || w.in <= 1) &&
                            (w.y_step == 1 || w.out == 1) &&
                            (std::abs(w.k_step) == 1 || w.taps == 1) &&
                            (std::abs(h.k_step) == w.taps || h.taps == 1);
    if (!neighbours) return false;
    const PlaneAxis down{h}, across = PlaneAxis{w}.sharing_padding();
    const auto product = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) * static_cast<double>(b);
    };
    return product(down.count() * down.extent, across.count() * across.extent) <=
           1024 + 16 * (product(h.in, w.in) + product(h.out, w.out));
  }

  Planes(const Problem& problem, bool same_type)
      : p{problem},
        h{p.down()},
        w{PlaneAxis{p.across()}.sharing_padding()},
        in_place{same_type && p.pointwise() && (h.of.x_step == w.of.in || h.of.in == 1)} {
    // What the last row's taps read past its end belongs to the plane too.
    step = h.extent * w.extent + w.reach();
    // An odd number of cache lines: planes a power of two apart would share a few sets of the cache.
    step = in_place ? p.x_channel : ((step + 15) / 16 | 1) * 16;
    offsets.reserve(static_cast<std::size_t>(p.channels * p.taps()));
    for (std::int64_t c = 0; c < p.channels; ++c)
      for (std::int64_t r = 0; r < h.of.taps; ++r)
        for (std::int64_t s = 0; s < w.of.taps; ++s) {
          const std::int64_t row = h.tap_at(r), column = w.tap_at(s);
          offsets.push_back(((c * h.count() + h.index(row)) * w.count() + w.index(column)) * step +
                            h.shift(row) * w.extent + w.shift(column));
        }
  }

  [[nodiscard]] std::int64_t per_channel() const noexcept { return h.count() * w.count() * step; }
  /// All channels of an image.
  [[nodiscard]] std::int64_t channels() const noexcept { return p.groups * p.channels; }
  /// Columns of the product: from the first output's to the last one's.
  [[nodiscard]] std::int64_t columns() const noexcept { return columns(h.of, w); }
  [[nodiscard]] static std::int64_t columns(const Axis& h, const PlaneAxis& w) noexcept {
    return (h.out - 1) * w.extent + w.of.out;
  }

  /// Copies one of the channels() of an image of x.
  template <class S, class C>
  void copy(const S* x, std::int64_t image, std::int64_t channel, C* to) const noexcept {
    const S* from = x + image * p.x_image + channel / p.channels * p.x_group +
                    channel % p.channels * p.x_channel;
    for (const std::int64_t down : h.remainders)
      for (const std::int64_t right : w.remainders) {
        C* row = to;
        for (std::int64_t i = 0; i < h.extent; ++i, row += w.extent)
          copy_row(from, i * h.of.stride + down - h.of.low, right - w.of.low, row);
        std::fill(row, to + step, C{});
        to += step;
      }
  }

 private:
  /// Row y of the channel, from column `left` on in steps of the stride.
  template <class S, class C>
  void copy_row(const S* channel, std::int64_t y, std::int64_t left, C* to) const noexcept {
    if (y < 0 || y >= h.of.in) {
      std::fill_n(to, w.extent, C{});
      return;
    }
    const S* row = channel + y * h.of.x_step;
    const std::int64_t stride = w.of.stride;
    // Places [first, last) lie inside the image.
    const std::int64_t first = std::min(w.extent, left < 0 ? (-left + stride - 1) / stride : 0);
    const std::int64_t last = std::clamp((w.of.in - left + stride - 1) / stride, first, w.extent);
    std::fill_n(to, first, C{});
    if (stride == 1) {
      cpu::STOKER_ISA::load_block(row + (left + first), to + first,
                                  static_cast<std::size_t>(last - first));
    } else if (std::is_same_v<S, C> && stride == 2) {
      // A step known to the compiler becomes shuffles of whole vectors.
      for (std::int64_t j = first; j < last; ++j) to[j] = static_cast<C>(row[left + j * 2]);
    } else {
      for (std::int64_t j = first; j < last; ++j)
        cpu::STOKER_ISA::load_block(row + (left + j * stride), to + j, 1);
    }
    std::fill(to + last, to + w.extent, C{});
  }
};

}  // namespace stoker::kernels::conv::STOKER_ISA
