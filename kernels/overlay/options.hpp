// overlay as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Overlay {
  static constexpr KernelName kind{"overlay"};
  std::int64_t x = 0;
  std::int64_t y = 0;
  double alpha = 1;
};
template <class V> void visit_options(Overlay& o, V&& visit) {
  constexpr double far = 1 << 30;
  visit("x", o.x, within(-far, far), "column of the upper left corner; may be negative");
  visit("y", o.y, within(-far, far), "row of the upper left corner; may be negative");
  visit("alpha", o.alpha, within(0, 1),
        "multiplies the alpha of input 1; 0 leaves input 0 as it is");
}

using OverlayKernels = KernelTypes<Overlay>;

}  // namespace stoker::kernels
