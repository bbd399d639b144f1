#include "stoker/api/tensor/math/elementwise.hpp"

#include <algorithm>

#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

DType common_dtype(const TensorLike& a, const TensorLike& b) {
  if (a.is_literal() && !b.is_literal()) return expr::merged(b.dtype(), a.literal());
  if (b.is_literal() && !a.is_literal()) return expr::merged(a.dtype(), b.literal());
  return expr::merged(a.dtype(), b.dtype());
}

/// bool has no arithmetic.
DType number(DType dtype) { return dtype == DType::boolean ? DType::u8 : dtype; }

std::size_t rank_of(const TensorLike& x) { return x.is_literal() ? 0 : x.tensor().rank(); }

AxisNames names_of(std::string_view op, const TensorLike& a, const TensorLike& b) {
  return AxisNames::merged(op, a.tensor().names(), rank_of(a), b.tensor().names(), rank_of(b));
}

Tensor unary(std::string_view name, const TensorLike& x, DType dtype) {
  return Tensor{expr::scalar(name, {x.as(dtype)}), x.tensor().names()};
}
Tensor binary(std::string_view name, const TensorLike& a, const TensorLike& b, DType dtype) {
  return Tensor{expr::scalar(name, {a.as(dtype), b.as(dtype)}), names_of(name, a, b)};
}

}  // namespace

Tensor exp(const TensorLike& x) { return unary("exp", x, expr::floating(x.dtype())); }
Tensor expm1(const TensorLike& x) { return unary("expm1", x, expr::floating(x.dtype())); }
Tensor log(const TensorLike& x) { return unary("log", x, expr::floating(x.dtype())); }
Tensor log1p(const TensorLike& x) { return unary("log1p", x, expr::floating(x.dtype())); }
Tensor sigmoid(const TensorLike& x) { return unary("sigmoid", x, expr::floating(x.dtype())); }
Tensor sqrt(const TensorLike& x) { return unary("sqrt", x, expr::floating(x.dtype())); }
Tensor rsqrt(const TensorLike& x) { return unary("rsqrt", x, expr::floating(x.dtype())); }
Tensor cbrt(const TensorLike& x) { return unary("cbrt", x, expr::floating(x.dtype())); }
Tensor sin(const TensorLike& x) { return unary("sin", x, expr::floating(x.dtype())); }
Tensor cos(const TensorLike& x) { return unary("cos", x, expr::floating(x.dtype())); }
Tensor tan(const TensorLike& x) { return unary("tan", x, expr::floating(x.dtype())); }
Tensor asin(const TensorLike& x) { return unary("asin", x, expr::floating(x.dtype())); }
Tensor acos(const TensorLike& x) { return unary("acos", x, expr::floating(x.dtype())); }
Tensor atan(const TensorLike& x) { return unary("atan", x, expr::floating(x.dtype())); }
Tensor sinh(const TensorLike& x) { return unary("sinh", x, expr::floating(x.dtype())); }
Tensor cosh(const TensorLike& x) { return unary("cosh", x, expr::floating(x.dtype())); }
Tensor tanh(const TensorLike& x) { return unary("tanh", x, expr::floating(x.dtype())); }
Tensor asinh(const TensorLike& x) { return unary("asinh", x, expr::floating(x.dtype())); }
Tensor acosh(const TensorLike& x) { return unary("acosh", x, expr::floating(x.dtype())); }
Tensor atanh(const TensorLike& x) { return unary("atanh", x, expr::floating(x.dtype())); }
Tensor erf(const TensorLike& x) { return unary("erf", x, expr::floating(x.dtype())); }
Tensor erfc(const TensorLike& x) { return unary("erfc", x, expr::floating(x.dtype())); }
Tensor erf_inv(const TensorLike& x) { return unary("erf_inv", x, expr::floating(x.dtype())); }

Tensor log(const TensorLike& x, const TensorLike& base) {
  const DType dtype = expr::floating(common_dtype(x, base));
  // The quotient of two rounded logarithms would be off by several units of a 16-bit float.
  const DType wide = size_of(dtype) == 2 ? DType::f32 : dtype;
  return as_type(divide(unary("log", x, wide), unary("log", base, wide)), dtype);
}
Tensor log2(const TensorLike& x) { return log(x, 2.0); }
Tensor log10(const TensorLike& x) { return log(x, 10.0); }

Tensor negate(const TensorLike& x) { return unary("negate", x, number(x.dtype())); }
Tensor abs(const TensorLike& x) { return unary("abs", x, number(x.dtype())); }
Tensor sign(const TensorLike& x) { return unary("sign", x, number(x.dtype())); }
Tensor floor(const TensorLike& x) { return unary("floor", x, number(x.dtype())); }
Tensor ceil(const TensorLike& x) { return unary("ceil", x, number(x.dtype())); }
Tensor round(const TensorLike& x) { return unary("round", x, number(x.dtype())); }
Tensor bitwise_not(const TensorLike& x) { return unary("bitwise_not", x, number(x.dtype())); }
Tensor population_count(const TensorLike& x) {
  return unary("population_count", x, number(x.dtype()));
}
Tensor count_leading_zeros(const TensorLike& x) {
  return unary("count_leading_zeros", x, number(x.dtype()));
}
Tensor logical_not(const TensorLike& x) { return unary("logical_not", x, x.dtype()); }
Tensor is_nan(const TensorLike& x) { return unary("is_nan", x, x.dtype()); }
Tensor is_infinity(const TensorLike& x) { return unary("is_infinity", x, x.dtype()); }

Tensor equal(const TensorLike& a, const TensorLike& b) {
  return binary("equal", a, b, common_dtype(a, b));
}
Tensor not_equal(const TensorLike& a, const TensorLike& b) {
  return binary("not_equal", a, b, common_dtype(a, b));
}
Tensor less(const TensorLike& a, const TensorLike& b) {
  return binary("less", a, b, common_dtype(a, b));
}
Tensor less_equal(const TensorLike& a, const TensorLike& b) {
  return binary("less_equal", a, b, common_dtype(a, b));
}
Tensor greater(const TensorLike& a, const TensorLike& b) {
  return binary("greater", a, b, common_dtype(a, b));
}
Tensor greater_equal(const TensorLike& a, const TensorLike& b) {
  return binary("greater_equal", a, b, common_dtype(a, b));
}
Tensor logical_and(const TensorLike& a, const TensorLike& b) {
  return binary("logical_and", a, b, common_dtype(a, b));
}
Tensor logical_or(const TensorLike& a, const TensorLike& b) {
  return binary("logical_or", a, b, common_dtype(a, b));
}
Tensor logical_xor(const TensorLike& a, const TensorLike& b) {
  return binary("logical_xor", a, b, common_dtype(a, b));
}
Tensor add(const TensorLike& a, const TensorLike& b) {
  return binary("add", a, b, number(common_dtype(a, b)));
}
Tensor subtract(const TensorLike& a, const TensorLike& b) {
  return binary("subtract", a, b, number(common_dtype(a, b)));
}
Tensor multiply(const TensorLike& a, const TensorLike& b) {
  return binary("multiply", a, b, number(common_dtype(a, b)));
}
Tensor remainder(const TensorLike& a, const TensorLike& b) {
  return binary("remainder", a, b, number(common_dtype(a, b)));
}
Tensor pow(const TensorLike& a, const TensorLike& b) {
  return binary("pow", a, b, number(common_dtype(a, b)));
}
Tensor max(const TensorLike& a, const TensorLike& b) {
  return binary("max", a, b, number(common_dtype(a, b)));
}
Tensor min(const TensorLike& a, const TensorLike& b) {
  return binary("min", a, b, number(common_dtype(a, b)));
}
Tensor quotient(const TensorLike& a, const TensorLike& b) {
  return binary("quotient", a, b, number(common_dtype(a, b)));
}
Tensor bitwise_and(const TensorLike& a, const TensorLike& b) {
  return binary("bitwise_and", a, b, number(common_dtype(a, b)));
}
Tensor bitwise_or(const TensorLike& a, const TensorLike& b) {
  return binary("bitwise_or", a, b, number(common_dtype(a, b)));
}
Tensor bitwise_xor(const TensorLike& a, const TensorLike& b) {
  return binary("bitwise_xor", a, b, number(common_dtype(a, b)));
}
Tensor left_shift(const TensorLike& a, const TensorLike& b) {
  return binary("left_shift", a, b, number(common_dtype(a, b)));
}
Tensor right_shift(const TensorLike& a, const TensorLike& b) {
  return binary("right_shift", a, b, number(common_dtype(a, b)));
}
Tensor divide(const TensorLike& a, const TensorLike& b) {
  return binary("divide", a, b, expr::floating(common_dtype(a, b)));
}
Tensor atan2(const TensorLike& a, const TensorLike& b) {
  return binary("atan2", a, b, expr::floating(common_dtype(a, b)));
}

Tensor select(const TensorLike& condition, const TensorLike& yes, const TensorLike& no) {
  const DType dtype = common_dtype(yes, no);
  const expr::Value chosen = condition.as(condition.dtype());
  const expr::Value truth =
      size_of(chosen.dtype()) == 1
          ? chosen
          : expr::scalar("not_equal", {chosen, expr::constant(0, chosen.dtype())});
  expr::Value chosen_from = expr::select(truth, yes.as(dtype), no.as(dtype));
  const AxisNames sides = names_of("select", yes, no);
  const std::size_t rank = std::max(rank_of(yes), rank_of(no));
  return Tensor{
      std::move(chosen_from),
      AxisNames::merged("select", sides, rank, condition.tensor().names(), rank_of(condition))};
}

Tensor clip(const TensorLike& x, const TensorLike& low, const TensorLike& high) {
  const DType limits = common_dtype(low, high);
  const DType dtype = x.is_literal() || (low.is_literal() && high.is_literal())
                          ? expr::merged(common_dtype(x, low), common_dtype(x, high))
                          : expr::merged(x.dtype(), limits);
  const Tensor value{x.as(dtype), x.tensor().names()};
  const Tensor least{low.as(dtype)};
  const Tensor most{high.as(dtype)};
  const Tensor raised = select(value < least, least, value);
  return select(raised > most, most, raised);
}

Tensor as_type(const Tensor& x, DType dtype) {
  return Tensor{expr::cast(x.value(), dtype), x.names()};
}

Tensor bitcast(const Tensor& x, DType dtype) {
  static constinit expr::NamedOp op{"bitcast"};
  if (is_complex(x.dtype()) || is_complex(dtype)) {
    const std::string from{to_string(x.dtype())};
    const std::string to{to_string(dtype)};
    throw Error{"bitcast",
                ErrorCode::dtype_mismatch,
                "cannot read " + from + " as " + to +
                    ": complex numbers are pairs, see view_as_real and view_as_complex",
                {{"from", from}, {"to", to}}};
  }
  if (x.dtype() == dtype) return x;
  return Tensor{expr::apply_one(op, {x.value()}, {{"dtype", std::string{to_string(dtype)}}}),
                x.names()};
}

Tensor relu(const TensorLike& x) {
  const Tensor value{x.as(number(x.dtype())), x.tensor().names()};
  return select(value > 0, value, select(is_nan(value), value, 0));
}

Tensor operator-(const Tensor& x) { return negate(x); }
Tensor operator~(const Tensor& x) { return bitwise_not(x); }

}  // namespace stoker
