// Where the pixels of a rotated image come from.
//
// Positions are whole numbers, in steps of 2^-31 pixels, so that every device takes the same pixels: for
// output pixel (row, column) the input position is
//     x = x_start + 2 (cosine · column − sine · row)
//     y = y_start + 2 (sine · column + cosine · row)
// with a cosine and a sine in steps of 2^-30, which are exact for multiples of 90 degrees. The
// middles of both images lie on each other.
#pragma once

#include <cstdint>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::kernels::rotate {

/// Pixels a side, of the input and of the output, with which positions fit in 64 bits.
inline constexpr std::int64_t max_side = std::int64_t{1} << 28;
/// Steps in a pixel.
inline constexpr std::int64_t pixel_steps = std::int64_t{1} << 31;

struct Turn {
  image::Extent in;
  image::Extent out;
  std::int64_t cosine = 0;
  std::int64_t sine = 0;
  std::int64_t x_start = 0;
  std::int64_t y_start = 0;
  /// The nearest pixel is taken: as asked, or as every position is the middle of one.
  bool nearest = false;
  /// Colours where there is no image, as stored; alpha is 0 there.
  float background = 0;
};

/// What a call's parameters say of its input. limit_exceeded if a side is longer than max_side.
[[nodiscard]] Result<Turn> turn(const KernelCall& call);

}  // namespace stoker::kernels::rotate
