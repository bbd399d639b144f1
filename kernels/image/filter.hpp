// How values between the pixels of an image are interpolated. A value; any thread.
#pragma once

#include <cstdint>

namespace stoker::image {

/// The numbers are also those that shaders get.
enum class Filter : std::uint8_t {
  nearest,
  bilinear,  ///< triangle, reaching 1 pixel
  bicubic,   ///< R. Keys, Cubic Convolution Interpolation (1981), a = −0.5, reaching 2 pixels
};

}  // namespace stoker::image
