// convert_color as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// The numbers are also those that shaders get.
enum class ColorSpace : std::uint8_t { rgb, bgr, hsv, hsl, ycbcr };

struct ConvertColor {
  static constexpr KernelName kind{"convert_color"};
  ColorSpace from = ColorSpace::rgb;
  ColorSpace to = ColorSpace::rgb;
};
template <class V> void visit_options(ConvertColor& o, V&& visit) {
  constexpr auto spaces = one_of<ColorSpace>({{"rgb", ColorSpace::rgb},
                                              {"bgr", ColorSpace::bgr},
                                              {"hsv", ColorSpace::hsv},
                                              {"hsl", ColorSpace::hsl},
                                              {"ycbcr", ColorSpace::ycbcr}});
  visit("from", o.from, spaces, "colour space of the input");
  visit("to", o.to, spaces, "colour space of the result");
}

using ConvertColorKernels = KernelTypes<ConvertColor>;

}  // namespace stoker::kernels
