// rotate as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

enum class RotateMode : std::uint8_t { nearest, bilinear };

struct Rotate {
  static constexpr KernelName kind{"rotate"};
  Required<double> angle = {};
  RotateMode mode = RotateMode::bilinear;
  bool expand = false;
  double background = 0;
};
template <class V> void visit_options(Rotate& o, V&& visit) {
  visit("angle", o.angle, within(-36000, 36000), "degrees, counter-clockwise");
  visit("mode", o.mode,
        one_of<RotateMode>({{"nearest", RotateMode::nearest}, {"bilinear", RotateMode::bilinear}}),
        "how values between pixels are computed; bilinear mixes the edge with the background");
  visit("expand", o.expand, anything,
        "the result holds all of the turned image; else it is as large as the input");
  visit("background", o.background, within(-100, 100),
        "the colour where there is no image, in units of full white; alpha is 0 there");
}

using RotateKernels = KernelTypes<Rotate>;

}  // namespace stoker::kernels
