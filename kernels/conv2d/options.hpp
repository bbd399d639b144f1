// conv2d as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Conv2d {
  static constexpr KernelName kind{"conv2d"};
  Extents stride = {1, 1};
  Extents padding = {0, 0, 0, 0};
  Extents dilation = {1, 1};
  std::int64_t groups = 1;
};
template <class V> void visit_options(Conv2d& o, V&& visit) {
  constexpr double most = 1 << 20;
  visit("stride", o.stride, within(1, most),
        "pixels from one output to the next: [vertical, horizontal], or one number for both");
  visit("padding", o.padding, within(0, most),
        "zeros around the input: [top, left, bottom, right], [vertical, horizontal], or one number "
        "for all");
  visit("dilation", o.dilation, within(1, most),
        "pixels from one tap to the next: [vertical, horizontal], or one number for both");
  visit("groups", o.groups, at_least(1),
        "independent groups that channels and outputs are divided into");
}

using Conv2dKernels = KernelTypes<Conv2d>;

}  // namespace stoker::kernels
