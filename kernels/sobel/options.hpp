// sobel as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// The numbers are also those that shaders get.
enum class SobelOutput : std::uint8_t { magnitude, x, y };

struct Sobel {
  static constexpr KernelName kind{"sobel"};
  SobelOutput output = SobelOutput::magnitude;
  double scale = 1;
  Border border = Border::replicate;
};
template <class V> void visit_options(Sobel& o, V&& visit) {
  visit("output", o.output,
        one_of<SobelOutput>(
            {{"magnitude", SobelOutput::magnitude}, {"x", SobelOutput::x}, {"y", SobelOutput::y}}),
        "the magnitude, or the derivative to the right (x) or downwards (y); u8 cuts negative "
        "derivatives to 0");
  visit("scale", o.scale, within(-1e6, 1e6),
        "factor on the result; 0.25 maps the full range of x or y to itself");
  image::visit_border(o, visit);
}

using SobelKernels = KernelTypes<Sobel>;

}  // namespace stoker::kernels
