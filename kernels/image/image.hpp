// What the image kernels share: the layout they accept and how they look past an edge.
//
// An image is [height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGB and straight alpha)
// channels. Values are as stored, no gamma is applied: u8 holds 0–255, f32 and f16 hold 0–1. Float
// images may leave that range and are not clamped; u8 results are rounded to the nearest value
// (halves up) and clamped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker::image {

/// The extents of an image, in pixels.
struct Extent {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  /// Elements of one row, and of the whole image.
  [[nodiscard]] std::int64_t row() const noexcept { return width * channels; }
  [[nodiscard]] std::int64_t elements() const noexcept { return height * row(); }
  [[nodiscard]] bool has_alpha() const noexcept { return channels == 4; }
  /// Channels that are not alpha.
  [[nodiscard]] std::int64_t colours() const noexcept { return has_alpha() ? 3 : channels; }
};

/// Precondition: check() accepted a tensor of this shape.
[[nodiscard]] inline Extent extent(const Shape& shape) noexcept {
  return {shape[0], shape[1], shape[2]};
}

/// shape_mismatch unless `image` is [height, width, 1 | 3 | 4]. `what` names it in the reason.
[[nodiscard]] Result<Extent> check(std::string_view op, const TensorSpec& image,
                                   std::string_view what = "input");

/// The dtypes of images: u8, f32, f16.
[[nodiscard]] std::vector<DType> dtypes();

}  // namespace stoker::image
