// gather as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Gather {
  static constexpr KernelName kind{"gather"};
  Extents axes = {};
};
template <class V> void visit_options(Gather& o, V&& visit) {
  visit(
      "axes", o.axes, anything,
      "the axes of x that the coordinates in the last axis of the indices speak of; negative from "
      "the end; empty: the leading ones");
}

using GatherKernels = KernelTypes<Gather>;

}  // namespace stoker::kernels
