// dynamic_slice and put_slice as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct DynamicSlice {
  static constexpr KernelName kind{"dynamic_slice"};
  Required<Extents> lengths = {};
  Extents strides = {};
};
template <class V> void visit_options(DynamicSlice& o, V&& visit) {
  visit("lengths", o.lengths, at_least(1),
        "number of entries that the slice spans along each axis");
  visit("strides", o.strides, within(1, (1LL << 31) - 1),
        "distance between the entries that are taken along each axis; empty: 1");
}

using PutSlice = PlainKernel<"put_slice">;

using DynamicSliceKernels = KernelTypes<DynamicSlice, PutSlice>;

}  // namespace stoker::kernels
