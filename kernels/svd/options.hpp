// svd as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Svd {
  static constexpr KernelName kind{"svd"};
  bool full_matrices = true;
};
template <class V> void visit_options(Svd& o, V&& visit) {
  visit("full_matrices", o.full_matrices, anything,
        "gives U [.., m, m] and Vt [.., n, n], else U [.., m, k] and Vt [.., k, n]");
}

using SvdKernels = KernelTypes<Svd>;

}  // namespace stoker::kernels
