#include "stoker/api/tensor/transforms/computed_after.hpp"

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/tensor/graph/custom_gradient.hpp"

namespace stoker {

Tensor computed_after(const Tensor& x, std::span<const Tensor> others) {
  if (others.empty()) return x;
  return Tensor{expr::computed_after(x.value(), detail::values_of(others)), x.names()};
}

}  // namespace stoker
