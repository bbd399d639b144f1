// integer_matmul as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// The options of Matmul, in its order.
struct IntegerMatmul {
  static constexpr KernelName kind{"integer_matmul"};
  bool transpose_a = false;
  bool transpose_b = false;
};
template <class V> void visit_options(IntegerMatmul& o, V&& visit) {
  visit("transpose_a", o.transpose_a, anything,
        "a is stored as [..., t, i]; no effect on a vector");
  visit("transpose_b", o.transpose_b, anything,
        "b is stored as [..., j, t]; no effect on a vector");
}

using IntegerMatmulKernels = KernelTypes<IntegerMatmul>;

}  // namespace stoker::kernels
