// gather as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Gather {
  static constexpr KernelName kind{"gather"};
  Extents axes = {};
};
template <class V> void visit_options(Gather& o, V&& visit) {
  visit("axes", o.axes, anything,
        "the axes of x to which the coordinates in the last axis of indices apply; a negative one "
        "counts from the end; empty: the leading axes");
}

using GatherKernels = KernelTypes<Gather>;

}  // namespace stoker::kernels
