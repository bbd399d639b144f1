// random_bits and threefry2x32 as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker::kernels {

struct RandomBits {
  static constexpr KernelName kind{"random_bits"};
  Extents shape = {};
  DType dtype = DType::u32;
};
template <class V> void visit_options(RandomBits& o, V&& visit) {
  visit("shape", o.shape, at_least(0), "extents of the output, outermost first; empty: a scalar");
  visit("dtype", o.dtype,
        one_of<DType>(
            {{"u8", DType::u8}, {"u16", DType::u16}, {"u32", DType::u32}, {"u64", DType::u64}}),
        "dtype of the output");
}

using Threefry2x32 = PlainKernel<"threefry2x32">;

using RandomBitsKernels = KernelTypes<RandomBits, Threefry2x32>;

}  // namespace stoker::kernels
