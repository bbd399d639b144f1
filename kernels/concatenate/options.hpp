// concatenate as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Concatenate {
  static constexpr KernelName kind{"concatenate"};
  std::int64_t axis = 0;
};
template <class V> void visit_options(Concatenate& o, V&& visit) {
  visit("axis", o.axis, anything,
        "the axis along which the inputs are joined; a negative one counts from the end");
}

using ConcatenateKernels = KernelTypes<Concatenate>;

}  // namespace stoker::kernels
