// The input of a convolution, copied so that every tap reads it forward.
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

#include "stoker/kernels/conv2d/geometry.hpp"
#include "stoker/kernels/matmul/blocks.hpp"

namespace stoker::kernels::conv2d::STOKER_ISA {

/// The remainders of one axis that taps read, and the extent of a plane along it.
struct PlaneAxis {
  std::vector<std::int64_t> remainders;
  std::int64_t extent = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t reach = 0;  ///< the largest shift

  PlaneAxis(std::int64_t out, std::int64_t kernel, std::int64_t stride_, std::int64_t dilation_)
      : stride{stride_}, dilation{dilation_}, reach{(kernel - 1) * dilation_ / stride_} {
    extent = out + reach;
    for (std::int64_t tap = 0; tap < kernel; ++tap) {
      const std::int64_t remainder = tap * dilation % stride;
      if (std::find(remainders.begin(), remainders.end(), remainder) == remainders.end())
        remainders.push_back(remainder);
    }
  }
  /// Makes rows so short that the zeros right of one are those left of the next: a tap that runs
  /// past a row's end may read there as long as both are padding.
  void share_padding(std::int64_t in, std::int64_t out, std::int64_t pad) noexcept {
    std::int64_t shared = out;
    for (const std::int64_t remainder : remainders) {
      const std::int64_t zeros = std::max<std::int64_t>(0, (pad - remainder + stride - 1) / stride);
      const std::int64_t end = (in + pad - remainder + stride - 1) / stride;
      shared = std::max({shared, end, out + reach - zeros});
    }
    extent = std::min(extent, shared);
  }
  /// Which of the remainders `tap` reads.
  [[nodiscard]] std::int64_t index(std::int64_t tap) const noexcept {
    return std::find(remainders.begin(), remainders.end(), tap * dilation % stride) -
           remainders.begin();
  }
  /// How far into the plane it begins.
  [[nodiscard]] std::int64_t shift(std::int64_t tap) const noexcept {
    return tap * dilation / stride;
  }
  [[nodiscard]] auto count() const noexcept { return static_cast<std::int64_t>(remainders.size()); }
};

struct Planes {
  Geometry g;
  PlaneAxis h;
  PlaneAxis w;
  std::int64_t step = 0;              ///< elements from plane to plane
  bool in_place;                      ///< the input itself serves as planes
  std::vector<std::int64_t> offsets;  ///< of each tap of a group, from the group's first plane

  Planes(const Geometry& geometry, bool same_type)
      : g{geometry},
        h{g.out_h, g.kernel_h, g.stride_h, g.dilation_h},
        w{g.out_w, g.kernel_w, g.stride_w, g.dilation_w},
        in_place{same_type && g.pointwise() && g.pad_top == 0 && g.pad_left == 0} {
    w.share_padding(g.in_w, g.out_w, g.pad_left);
    // What the last row's taps read past its end belongs to the plane too.
    step = h.extent * w.extent + w.reach;
    // An odd number of cache lines: planes a power of two apart would share a few sets of the cache.
    if (!in_place) step = ((step + 15) / 16 | 1) * 16;
    offsets.reserve(static_cast<std::size_t>(g.taps()));
    for (std::int64_t c = 0; c < g.group_channels(); ++c)
      for (std::int64_t r = 0; r < g.kernel_h; ++r)
        for (std::int64_t s = 0; s < g.kernel_w; ++s)
          offsets.push_back(((c * h.count() + h.index(r)) * w.count() + w.index(s)) * step +
                            h.shift(r) * w.extent + w.shift(s));
  }

  [[nodiscard]] std::int64_t per_channel() const noexcept { return h.count() * w.count() * step; }
  /// Columns of the product: from the first output's to the last one's.
  [[nodiscard]] std::int64_t columns() const noexcept { return (g.out_h - 1) * w.extent + g.out_w; }

  /// Copies one channel of one image.
  template <class S, class C> void copy(const S* from, C* to) const noexcept {
    for (const std::int64_t down : h.remainders)
      for (const std::int64_t right : w.remainders) {
        C* row = to;
        for (std::int64_t i = 0; i < h.extent; ++i, row += w.extent)
          copy_row(from, i * h.stride + down - g.pad_top, right - g.pad_left, row);
        std::fill(row, to + step, C{});
        to += step;
      }
  }

 private:
  /// Row y of the channel, from column `left` on in steps of the stride.
  template <class S, class C>
  void copy_row(const S* channel, std::int64_t y, std::int64_t left, C* to) const noexcept {
    if (y < 0 || y >= g.in_h) {
      std::fill_n(to, w.extent, C{});
      return;
    }
    const S* row = channel + y * g.in_w;
    // Places [first, last) lie inside the image.
    const std::int64_t first = std::min(w.extent, left < 0 ? (-left + w.stride - 1) / w.stride : 0);
    const std::int64_t last =
        std::clamp((g.in_w - left + w.stride - 1) / w.stride, first, w.extent);
    std::fill_n(to, first, C{});
    if (w.stride == 1) {
      cpu::STOKER_ISA::load_block(row + (left + first), to + first,
                                  static_cast<std::size_t>(last - first));
    } else if (std::is_same_v<S, C> && w.stride == 2) {
      // A step known to the compiler becomes shuffles of whole vectors.
      for (std::int64_t j = first; j < last; ++j) to[j] = static_cast<C>(row[left + j * 2]);
    } else {
      for (std::int64_t j = first; j < last; ++j)
        cpu::STOKER_ISA::load_block(row + (left + j * w.stride), to + j, 1);
    }
    std::fill(to + last, to + w.extent, C{});
  }
};

}  // namespace stoker::kernels::conv2d::STOKER_ISA
