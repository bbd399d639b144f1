#include "stoker/api/onnx/core/rounding.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx {

Tensor rounded_to_even(const Tensor& x) {
  const Tensor down = floor(x);
  const Tensor above = x - down;
  const Tensor odd = not_equal(remainder(down, 2), 0);
  const Tensor up = logical_or(greater(above, 0.5), logical_and(equal(above, 0.5), odd));
  return select(equal(above, 0), x, select(up, down + 1, down));
}

}  // namespace stoker::onnx
