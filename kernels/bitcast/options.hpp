// bitcast as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/dtype_words.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Bitcast {
  static constexpr KernelName kind{"bitcast"};
  Required<DType> dtype = {};
};
template <class V> void visit_options(Bitcast& o, V&& visit) {
  visit("dtype", o.dtype, dtype_words, "dtype of the output");
}

using BitcastKernels = KernelTypes<Bitcast>;

}  // namespace stoker::kernels
