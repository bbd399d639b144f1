// The sizes and steps of one convolution, worked out once from shapes and parameters.
#pragma once

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::conv2d {

/// y[image, o, i, j] = bias[o] + sum over c, r, s of
///     w[o, c, r, s] · x[image, group(o)·channels/groups + c, i·stride_h + r·dilation_h − pad_top,
///                       j·stride_w + s·dilation_w − pad_left]
/// with x = 0 outside of the image. Extents count elements.
struct Geometry {
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t in_h = 0;
  std::int64_t in_w = 0;
  std::int64_t out_channels = 0;
  std::int64_t out_h = 0;
  std::int64_t out_w = 0;
  std::int64_t kernel_h = 0;
  std::int64_t kernel_w = 0;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t dilation_h = 1;
  std::int64_t dilation_w = 1;
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  std::int64_t pad_bottom = 0;
  std::int64_t pad_right = 0;
  std::int64_t groups = 1;
  bool bias = false;

  [[nodiscard]] std::int64_t group_channels() const noexcept { return channels / groups; }
  [[nodiscard]] std::int64_t group_outputs() const noexcept { return out_channels / groups; }
  /// Terms of one output's sum.
  [[nodiscard]] std::int64_t taps() const noexcept {
    return group_channels() * kernel_h * kernel_w;
  }
  /// GpuPass::rounds of a thread that sums them up one by one.
  [[nodiscard]] std::uint64_t rounds() const noexcept {
    return static_cast<std::uint64_t>(group_channels() * (kernel_h * (kernel_w + 2) + 2));
  }
  [[nodiscard]] std::int64_t out_pixels() const noexcept { return out_h * out_w; }
  /// Every output pixel reads exactly its own input pixel.
  [[nodiscard]] bool pointwise() const noexcept {
    return kernel_h == 1 && kernel_w == 1 && stride_h == 1 && stride_w == 1 && in_h == out_h &&
           in_w == out_w;
  }
  /// Multiply-adds in all.
  [[nodiscard]] double work() const noexcept {
    return static_cast<double>(images * out_channels) * static_cast<double>(out_pixels()) *
           static_cast<double>(taps());
  }
};

/// The geometry of a call, or why its inputs do not fit.
[[nodiscard]] Result<Geometry> describe(const KernelCall& call);

}  // namespace stoker::kernels::conv2d
