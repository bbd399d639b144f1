// Elementwise functions. Shapes broadcast as in NumPy; dtypes merge by the rules of
// pipeline/tensor/graph/promotion.hpp. Conditions are u8, 0 or 1.
//
// Threads: any. Errors are thrown: shape_mismatch, dtype_mismatch.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

// Float functions; integers become f32 ------------------------------------------------------------
/// e^x.
[[nodiscard]] Tensor exp(const TensorLike& x);
/// e^x - 1, accurate near 0.
[[nodiscard]] Tensor expm1(const TensorLike& x);
/// The natural logarithm; NaN below 0.
[[nodiscard]] Tensor log(const TensorLike& x);
/// log(1 + x), accurate near 0.
[[nodiscard]] Tensor log1p(const TensorLike& x);
/// 1 / (1 + e^-x).
[[nodiscard]] Tensor sigmoid(const TensorLike& x);
/// The square root.
[[nodiscard]] Tensor sqrt(const TensorLike& x);
/// 1 / sqrt(x).
[[nodiscard]] Tensor rsqrt(const TensorLike& x);
/// The cube root.
[[nodiscard]] Tensor cbrt(const TensorLike& x);
[[nodiscard]] Tensor sin(const TensorLike& x);
[[nodiscard]] Tensor cos(const TensorLike& x);
[[nodiscard]] Tensor tan(const TensorLike& x);
[[nodiscard]] Tensor asin(const TensorLike& x);
[[nodiscard]] Tensor acos(const TensorLike& x);
[[nodiscard]] Tensor atan(const TensorLike& x);
[[nodiscard]] Tensor sinh(const TensorLike& x);
[[nodiscard]] Tensor cosh(const TensorLike& x);
[[nodiscard]] Tensor tanh(const TensorLike& x);
[[nodiscard]] Tensor asinh(const TensorLike& x);
[[nodiscard]] Tensor acosh(const TensorLike& x);
[[nodiscard]] Tensor atanh(const TensorLike& x);
/// The error function.
[[nodiscard]] Tensor erf(const TensorLike& x);
/// 1 - erf(x).
[[nodiscard]] Tensor erfc(const TensorLike& x);
/// The inverse of erf.
[[nodiscard]] Tensor erf_inv(const TensorLike& x);
/// The logarithm to another base.
[[nodiscard]] Tensor log(const TensorLike& x, const TensorLike& base);
[[nodiscard]] Tensor log2(const TensorLike& x);
[[nodiscard]] Tensor log10(const TensorLike& x);

// Functions that keep the dtype -------------------------------------------------------------------
/// -x; integers wrap.
[[nodiscard]] Tensor negate(const TensorLike& x);
/// |x|; the result is real for complex x. The smallest signed integer wraps.
[[nodiscard]] Tensor abs(const TensorLike& x);
/// -1, 0 or 1; a zero keeps its sign, NaN stays.
[[nodiscard]] Tensor sign(const TensorLike& x);
[[nodiscard]] Tensor floor(const TensorLike& x);
[[nodiscard]] Tensor ceil(const TensorLike& x);
/// Rounds to the nearest integer; halves round away from zero.
[[nodiscard]] Tensor round(const TensorLike& x);

// Integers ----------------------------------------------------------------------------------------
[[nodiscard]] Tensor bitwise_not(const TensorLike& x);
/// The number of set bits.
[[nodiscard]] Tensor population_count(const TensorLike& x);
/// The number of zeros above the highest set bit, at the dtype's width.
[[nodiscard]] Tensor count_leading_zeros(const TensorLike& x);

// Conditions -------------------------------------------------------------------------------------------
/// 1 where x is 0, else 0.
[[nodiscard]] Tensor logical_not(const TensorLike& x);
[[nodiscard]] Tensor is_nan(const TensorLike& x);
[[nodiscard]] Tensor is_infinity(const TensorLike& x);
/// NaN is equal to nothing.
[[nodiscard]] Tensor equal(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor not_equal(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor less(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor less_equal(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor greater(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor greater_equal(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor logical_and(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor logical_or(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor logical_xor(const TensorLike& a, const TensorLike& b);

// Two operands ------------------------------------------------------------------------------------
/// Integers wrap.
[[nodiscard]] Tensor add(const TensorLike& a, const TensorLike& b);
/// Integers wrap.
[[nodiscard]] Tensor subtract(const TensorLike& a, const TensorLike& b);
/// Integers wrap.
[[nodiscard]] Tensor multiply(const TensorLike& a, const TensorLike& b);
/// The remainder has the dividend's sign; integer division by 0 gives 0.
[[nodiscard]] Tensor remainder(const TensorLike& a, const TensorLike& b);
/// 0^0 = 1. Integers wrap; for integers a negative exponent gives 0 unless the base is 1 or -1.
[[nodiscard]] Tensor pow(const TensorLike& a, const TensorLike& b);
/// NaN in either operand gives NaN.
[[nodiscard]] Tensor max(const TensorLike& a, const TensorLike& b);
/// NaN in either operand gives NaN.
[[nodiscard]] Tensor min(const TensorLike& a, const TensorLike& b);
/// The quotient as a float; x / 0 is an infinity or NaN, also for integers.
[[nodiscard]] Tensor divide(const TensorLike& a, const TensorLike& b);
/// The angle of the point (x = b, y = a), in the right quadrant.
[[nodiscard]] Tensor atan2(const TensorLike& a, const TensorLike& b);
/// The quotient truncated toward zero; division by 0 gives 0.
[[nodiscard]] Tensor quotient(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor bitwise_and(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor bitwise_or(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor bitwise_xor(const TensorLike& a, const TensorLike& b);
[[nodiscard]] Tensor left_shift(const TensorLike& a, const TensorLike& b);
/// Arithmetic for signed integers.
[[nodiscard]] Tensor right_shift(const TensorLike& a, const TensorLike& b);

// Choices -------------------------------------------------------------------------------------------
/// `yes` where the condition is not 0, else `no`.
[[nodiscard]] Tensor select(const TensorLike& condition, const TensorLike& yes,
                            const TensorLike& no);
/// Clamps x to [low, high]. If low > high the result is high. NaN in x is kept; a NaN bound is
/// ignored. At a bound, x has the whole gradient.
[[nodiscard]] Tensor clip(const TensorLike& x, const TensorLike& low, const TensorLike& high);

/// Converts elements. Floats to integers truncate toward zero and saturate, NaN gives 0; integers
/// wrap; complex numbers lose their imaginary part.
[[nodiscard]] Tensor as_type(const Tensor& x, DType dtype);
/// Reinterprets the bits as another dtype of the same size; NaN payloads are kept. Complex dtypes
/// (use view_as_real()) and conversion to bool are refused. There is no gradient.
[[nodiscard]] Tensor bitcast(const Tensor& x, DType dtype);

/// max(x, 0); the gradient at 0 is 0.
[[nodiscard]] Tensor relu(const TensorLike& x);

// Operators: between tensors, and with a number on either side. (All are written out because C++20
// would turn a missing != into a negated ==.)
[[nodiscard]] inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
template <Number T> [[nodiscard]] Tensor operator+(const Tensor& a, T b) { return add(a, b); }
template <Number T> [[nodiscard]] Tensor operator+(T a, const Tensor& b) { return add(a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
template <Number T> [[nodiscard]] Tensor operator-(const Tensor& a, T b) { return subtract(a, b); }
template <Number T> [[nodiscard]] Tensor operator-(T a, const Tensor& b) { return subtract(a, b); }
[[nodiscard]] inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
template <Number T> [[nodiscard]] Tensor operator*(const Tensor& a, T b) { return multiply(a, b); }
template <Number T> [[nodiscard]] Tensor operator*(T a, const Tensor& b) { return multiply(a, b); }
[[nodiscard]] inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
template <Number T> [[nodiscard]] Tensor operator/(const Tensor& a, T b) { return divide(a, b); }
template <Number T> [[nodiscard]] Tensor operator/(T a, const Tensor& b) { return divide(a, b); }
[[nodiscard]] inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
template <Number T> [[nodiscard]] Tensor operator%(const Tensor& a, T b) { return remainder(a, b); }
template <Number T> [[nodiscard]] Tensor operator%(T a, const Tensor& b) { return remainder(a, b); }
[[nodiscard]] inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
template <Number T> [[nodiscard]] Tensor operator==(const Tensor& a, T b) { return equal(a, b); }
template <Number T> [[nodiscard]] Tensor operator==(T a, const Tensor& b) { return equal(a, b); }
[[nodiscard]] inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
template <Number T> [[nodiscard]] Tensor operator!=(const Tensor& a, T b) {
  return not_equal(a, b);
}
template <Number T> [[nodiscard]] Tensor operator!=(T a, const Tensor& b) {
  return not_equal(a, b);
}
[[nodiscard]] inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
template <Number T> [[nodiscard]] Tensor operator<(const Tensor& a, T b) { return less(a, b); }
template <Number T> [[nodiscard]] Tensor operator<(T a, const Tensor& b) { return less(a, b); }
[[nodiscard]] inline Tensor operator<=(const Tensor& a, const Tensor& b) {
  return less_equal(a, b);
}
template <Number T> [[nodiscard]] Tensor operator<=(const Tensor& a, T b) {
  return less_equal(a, b);
}
template <Number T> [[nodiscard]] Tensor operator<=(T a, const Tensor& b) {
  return less_equal(a, b);
}
[[nodiscard]] inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
template <Number T> [[nodiscard]] Tensor operator>(const Tensor& a, T b) { return greater(a, b); }
template <Number T> [[nodiscard]] Tensor operator>(T a, const Tensor& b) { return greater(a, b); }
[[nodiscard]] inline Tensor operator>=(const Tensor& a, const Tensor& b) {
  return greater_equal(a, b);
}
template <Number T> [[nodiscard]] Tensor operator>=(const Tensor& a, T b) {
  return greater_equal(a, b);
}
template <Number T> [[nodiscard]] Tensor operator>=(T a, const Tensor& b) {
  return greater_equal(a, b);
}
[[nodiscard]] inline Tensor operator&(const Tensor& a, const Tensor& b) {
  return bitwise_and(a, b);
}
template <Number T> [[nodiscard]] Tensor operator&(const Tensor& a, T b) {
  return bitwise_and(a, b);
}
template <Number T> [[nodiscard]] Tensor operator&(T a, const Tensor& b) {
  return bitwise_and(a, b);
}
[[nodiscard]] inline Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
template <Number T> [[nodiscard]] Tensor operator|(const Tensor& a, T b) {
  return bitwise_or(a, b);
}
template <Number T> [[nodiscard]] Tensor operator|(T a, const Tensor& b) {
  return bitwise_or(a, b);
}
[[nodiscard]] inline Tensor operator^(const Tensor& a, const Tensor& b) {
  return bitwise_xor(a, b);
}
template <Number T> [[nodiscard]] Tensor operator^(const Tensor& a, T b) {
  return bitwise_xor(a, b);
}
template <Number T> [[nodiscard]] Tensor operator^(T a, const Tensor& b) {
  return bitwise_xor(a, b);
}
[[nodiscard]] inline Tensor operator<<(const Tensor& a, const Tensor& b) {
  return left_shift(a, b);
}
template <Number T> [[nodiscard]] Tensor operator<<(const Tensor& a, T b) {
  return left_shift(a, b);
}
[[nodiscard]] inline Tensor operator>>(const Tensor& a, const Tensor& b) {
  return right_shift(a, b);
}
template <Number T> [[nodiscard]] Tensor operator>>(const Tensor& a, T b) {
  return right_shift(a, b);
}
[[nodiscard]] Tensor operator-(const Tensor& x);
[[nodiscard]] Tensor operator~(const Tensor& x);

}  // namespace stoker
