#include "stoker/api/onnx/core/rounding.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::onnx {

Tensor rounded_to_even(const Tensor& x) {
  const Tensor down = floor(x);
  const Tensor above = x - down;
  const Tensor odd = not_equal(remainder(down, 2), 0);
  const Tensor up = logical_or(greater(above, 0.5), logical_and(equal(above, 0.5), odd));
  return select(equal(above, 0), x, select(up, down + 1, down));
}

Tensor quantized(const Tensor& x, const std::optional<Tensor>& zero, double low, double high) {
  // A number so large that the last digit of a sum is 1 keeps whole numbers only, rounded as sums are. The
  // ends are whole, so cutting off before the rounding gives what cutting off behind it would.
  const double large = x.dtype() == DType::f64 ? 0x1.8p52 : 0x1.8p23;
  if (!zero) return (min(max(x, low), high) + large) - large;
  return ((min(max(x, low - *zero), high - *zero) + large) - large) + *zero;
}

DynamicallyQuantized dynamically_quantized(const Tensor& x) {
  const Tensor high = max(reduce_max(x), 0);
  const Tensor low = min(reduce_min(x), 0);
  const Tensor scale = (high - low) / 255;
  const Tensor zero_point = quantized(negate(low) / scale, {}, 0, 255);
  return {as_type(quantized(x / scale, zero_point, 0, 255), DType::u8), scale,
          as_type(zero_point, DType::u8)};
}

}  // namespace stoker::onnx
