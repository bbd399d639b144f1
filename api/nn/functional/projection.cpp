#include "stoker/api/nn/functional/projection.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {

Tensor projected(const Tensor& x, const Tensor& kernel, const Tensor& bias) {
  const bool fits =
      x.rank() >= 1 && kernel.rank() == 2 && x.shape()[x.rank() - 1] == kernel.shape()[0];
  if (!fits)
    throw Error{"projected",
                ErrorCode::shape_mismatch,
                "expected x […, in] and a kernel [in, out], got " + x.shape().to_string() +
                    " and " + kernel.shape().to_string(),
                {{"input", x.spec().to_string()}, {"kernel", kernel.spec().to_string()}}};
  const std::size_t last = x.rank() - 1;
  const Shape rows{x.shape().without(last).elements(), kernel.shape()[0]};
  const Tensor y =
      reshape(matmul(reshape(x, rows), kernel), x.shape().with(last, kernel.shape()[1]));
  return bias.has_value() ? y + bias : y;
}

}  // namespace stoker::nn
