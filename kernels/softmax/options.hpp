// softmax as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Softmax {
  static constexpr KernelName kind{"softmax"};
  std::int64_t axis = -1;
};
template <class V> void visit_options(Softmax& o, V&& visit) {
  visit("axis", o.axis, anything,
        "the axis along which results add up to 1; a negative one counts from the end");
}

using SoftmaxKernels = KernelTypes<Softmax>;

}  // namespace stoker::kernels
