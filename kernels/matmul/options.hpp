// matmul as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Matmul {
  static constexpr KernelName kind{"matmul"};
  bool transpose_a = false;
  bool transpose_b = false;
};
template <class V> void visit_options(Matmul& o, V&& visit) {
  visit("transpose_a", o.transpose_a, anything,
        "a is stored as [..., t, i]; no effect on a vector");
  visit("transpose_b", o.transpose_b, anything,
        "b is stored as [..., j, t]; no effect on a vector");
}

using MatmulKernels = KernelTypes<Matmul>;

}  // namespace stoker::kernels
