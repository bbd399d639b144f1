// median as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Median {
  static constexpr KernelName kind{"median"};
  std::int64_t radius = 1;
  Border border = Border::replicate;
};
template <class V> void visit_options(Median& o, V&& visit) {
  visit("radius", o.radius, within(1, 3), "reach of the window in pixels to each side");
  image::visit_border(o, visit);
}

using MedianKernels = KernelTypes<Median>;

}  // namespace stoker::kernels
