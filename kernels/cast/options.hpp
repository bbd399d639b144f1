// cast as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/dtype_words.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Cast {
  static constexpr KernelName kind{"cast"};
  Required<DType> dtype = {};
};
template <class V> void visit_options(Cast& o, V&& visit) {
  visit("dtype", o.dtype, dtype_words, "dtype of the output");
}

using CastKernels = KernelTypes<Cast>;

}  // namespace stoker::kernels
