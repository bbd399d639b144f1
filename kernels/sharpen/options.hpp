// sharpen as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/image/gaussian.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Sharpen {
  static constexpr KernelName kind{"sharpen"};
  double strength = 1;
  std::int64_t radius = 1;
  double sigma = 0;
  Border border = Border::replicate;
};
template <class V> void visit_options(Sharpen& o, V&& visit) {
  visit("strength", o.strength, within(0, 100),
        "factor on the difference that is added; 0 changes nothing");
  image::visit_blur(o, visit);
}

using SharpenKernels = KernelTypes<Sharpen>;

}  // namespace stoker::kernels
