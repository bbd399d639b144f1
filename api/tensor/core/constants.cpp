#include "stoker/api/tensor/core/constants.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::constants {
namespace {

/// Bits of a float's mantissa, the one that is not stored included, and its smallest exponent.
struct Format {
  int digits = 0;
  int lowest = 0;
  int highest = 0;
};

Format format_of(const char* name, DType dtype) {
  switch (dtype) {
    case DType::f16: return {11, -14, 15};
    case DType::bf16: return {8, -126, 127};
    case DType::f32: return {24, -126, 127};
    case DType::f64: return {53, -1022, 1023};
    default:
      throw Error{name,
                  ErrorCode::invalid_parameter,
                  "expected a float dtype, got " + std::string{to_string(dtype)},
                  {{"got", std::string{to_string(dtype)}}}};
  }
}

Tensor number(const char* name, DType dtype, double value) {
  static_cast<void>(format_of(name, dtype));
  return Tensor{expr::constant(value, dtype)};
}

/// The largest or the smallest of an integer dtype.
Tensor limit(const char* name, DType dtype, bool largest) {
  if (!is_integer(dtype))
    throw Error{name,
                ErrorCode::invalid_parameter,
                "expected numbers, got " + std::string{to_string(dtype)},
                {{"got", std::string{to_string(dtype)}}}};
  return visit_dtype(dtype, [&]<class T>() -> Tensor {
    if constexpr (std::is_integral_v<T>) {
      const T value = largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
      return Tensor{expr::integer_constant(static_cast<std::uint64_t>(value), dtype)};
    }
    throw Error{name, ErrorCode::internal, "an integer dtype without an integer type"};
  });
}

double largest_finite(const char* name, DType dtype) {
  const Format format = format_of(name, dtype);
  // All bits of the mantissa set: (2 - 2^(1 - digits)) · 2^highest.
  return std::ldexp(2 - std::ldexp(1.0, 1 - format.digits), format.highest);
}

}  // namespace

Tensor nan(DType dtype) { return number("nan", dtype, std::numeric_limits<double>::quiet_NaN()); }
Tensor infinity(DType dtype) { return number("infinity", dtype, HUGE_VAL); }
Tensor neg_infinity(DType dtype) { return number("neg_infinity", dtype, -HUGE_VAL); }

Tensor smallest_positive_normal(DType dtype) {
  constexpr auto name = "smallest_positive_normal";
  return number(name, dtype, std::ldexp(1.0, format_of(name, dtype).lowest));
}

Tensor epsilon(DType dtype) {
  return number("epsilon", dtype, std::ldexp(1.0, 1 - format_of("epsilon", dtype).digits));
}

Tensor pi(DType dtype) { return number("pi", dtype, std::numbers::pi); }
Tensor e(DType dtype) { return number("e", dtype, std::numbers::e); }
Tensor euler_gamma(DType dtype) { return number("euler_gamma", dtype, std::numbers::egamma); }

Tensor max(DType dtype) { return is_float(dtype) ? infinity(dtype) : limit("max", dtype, true); }
Tensor min(DType dtype) {
  return is_float(dtype) ? neg_infinity(dtype) : limit("min", dtype, false);
}
Tensor max_finite(DType dtype) {
  return is_float(dtype) ? number("max_finite", dtype, largest_finite("max_finite", dtype))
                         : limit("max_finite", dtype, true);
}
Tensor min_finite(DType dtype) {
  return is_float(dtype) ? number("min_finite", dtype, -largest_finite("min_finite", dtype))
                         : limit("min_finite", dtype, false);
}

}  // namespace stoker::constants
