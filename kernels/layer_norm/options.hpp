// layer_norm as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct LayerNorm {
  static constexpr KernelName kind{"layer_norm"};
  std::int64_t axis = -1;
  double epsilon = 1e-5;
};
template <class V> void visit_options(LayerNorm& o, V&& visit) {
  visit("axis", o.axis, anything, "the first normalized axis; a negative one counts from the end");
  visit("epsilon", o.epsilon, at_least(0), "added to the variance");
}

using LayerNormKernels = KernelTypes<LayerNorm>;

}  // namespace stoker::kernels
