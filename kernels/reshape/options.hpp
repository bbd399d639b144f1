// reshape as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Reshape {
  static constexpr KernelName kind{"reshape"};
  Required<Extents> shape = {};
};
template <class V> void visit_options(Reshape& o, V&& visit) {
  visit("shape", o.shape, at_least(-1),
        "new extents, outermost first; one may be -1 and then follows from the others");
}

using ReshapeKernels = KernelTypes<Reshape>;

}  // namespace stoker::kernels
