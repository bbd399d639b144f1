// transpose as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Transpose {
  static constexpr KernelName kind{"transpose"};
  Extents axes = {};
};
template <class V> void visit_options(Transpose& o, V&& visit) {
  visit("axes", o.axes, anything,
        "the input axis of each output axis; a negative one counts from the end; empty: the axes "
        "are reversed");
}

using TransposeKernels = KernelTypes<Transpose>;

}  // namespace stoker::kernels
