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
  visit("lengths", o.lengths, at_least(1), "how many entries of each axis the slice spans");
  visit("strides", o.strides, within(1, (1LL << 31) - 1),
        "every how many of these are taken; empty: all");
}

using PutSlice = PlainKernel<"put_slice">;

using DynamicSliceKernels = KernelTypes<DynamicSlice, PutSlice>;

}  // namespace stoker::kernels
