#include "stoker/api/onnx/core/narrow_floats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"

namespace stoker::onnx {
namespace {

struct Format {
  int mantissa = 0;          ///< bits
  int least_exponent = 0;    ///< of normal numbers
  std::int64_t largest = 0;  ///< its bits
  std::int64_t infinity = 0, nan = 0;
  std::int64_t sign = 0x80;
  bool has_negative_zero = true;
};

Format format_of(ElementType type) {
  switch (type) {
    case ElementType::f8e4m3fn: return {3, -6, 0x7E, 0x7F, 0x7F};
    case ElementType::f8e4m3fnuz: return {3, -7, 0x7F, 0x80, 0x80, 0x80, false};
    case ElementType::f8e5m2: return {2, -14, 0x7B, 0x7C, 0x7E};
    case ElementType::f8e5m2fnuz: return {2, -15, 0x7F, 0x80, 0x80, 0x80, false};
    default: return {1, 0, 0x7, 0x7, 0x8, 0x8};  // f4e2m1
  }
}

double number_of(const Format& format, std::int64_t bits) {
  const std::int64_t below = bits & (format.sign - 1);
  const bool is_negative = (bits & format.sign) != 0;
  if (!format.has_negative_zero && bits == format.nan)
    return std::numeric_limits<double>::quiet_NaN();
  if (format.has_negative_zero && below > format.largest)
    return below == format.infinity && format.infinity != format.nan
               ? (is_negative ? -1 : 1) * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  const std::int64_t exponent = below >> format.mantissa;
  const std::int64_t fraction = below & ((std::int64_t{1} << format.mantissa) - 1);
  const std::int64_t whole =
      exponent == 0 ? fraction : fraction + (std::int64_t{1} << format.mantissa);
  const auto power = static_cast<int>(std::max<std::int64_t>(exponent, 1) - 1) +
                     format.least_exponent - format.mantissa;
  return (is_negative ? -1 : 1) * std::ldexp(static_cast<double>(whole), power);
}

/// Powers of two alone: the exponent of f32, which has the same bias.
Tensor exponents_of(const Tensor& numbers, const Narrowing& how) {
  const Tensor bits =
      bitwise_and(as_type(bitcast(numbers, DType::u32), DType::s64), std::int64_t{0x7FFFFFFF});
  const Tensor exponent = right_shift(bits, full_like(bits, 23));
  const Tensor fraction = bitwise_and(bits, std::int64_t{0x7FFFFF});
  Tensor up = greater(fraction, 0);
  if (how.rounding == "nearest") up = greater_equal(fraction, std::int64_t{0x400000});
  if (how.rounding == "down") up = zeros_like(up);
  const Tensor moved = exponent + as_type(up, DType::s64);
  const Tensor finite = how.saturates ? min(moved, std::int64_t{254}) : moved;
  const Tensor infinite = how.saturates ? full_like(bits, 254) : full_like(bits, 255);
  const Tensor y = select(equal(exponent, 255), infinite, finite);
  return as_type(select(is_nan(numbers), full_like(bits, 255), y), DType::u8);
}

}  // namespace

bool is_narrow_float(ElementType type) noexcept {
  return (type >= ElementType::f8e4m3fn && type <= ElementType::f8e5m2fnuz) ||
         type == ElementType::f4e2m1 || type == ElementType::f8e8m0;
}

Tensor widened(const Tensor& bits, ElementType type) {
  std::vector<float> numbers;
  const int count = type == ElementType::f4e2m1 ? 16 : 256;
  for (int i = 0; i < count; ++i) {
    const double number =
        type == ElementType::f8e8m0
            ? (i == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, i - 127))
            : number_of(format_of(type), i);
    numbers.push_back(static_cast<float>(number));
  }
  return take(tensor(numbers), as_type(bits, DType::s32));
}

Tensor narrowed(const Tensor& numbers, ElementType type, const Narrowing& how) {
  const Tensor x = as_type(numbers, DType::f32);
  if (type == ElementType::f8e8m0) return exponents_of(x, how);
  const Format format = format_of(type);
  const Tensor bits = as_type(bitcast(x, DType::u32), DType::s64);
  const Tensor size = abs(x);
  // Of the number, but not below that of the smallest normal one: from there on steps are equal.
  const Tensor exponent =
      max(right_shift(bitwise_and(bits, std::int64_t{0x7FFFFFFF}), full_like(bits, 23)) - 127,
          std::int64_t{format.least_exponent});
  const Tensor finite_exponent = min(exponent, std::int64_t{64});
  const Tensor step = bitcast(
      as_type(left_shift(finite_exponent - format.mantissa + 127, full_like(bits, 23)), DType::u32),
      DType::f32);
  const Tensor steps = as_type(rounded_to_even(min(size, 1e15) / step), DType::s64);
  Tensor code =
      left_shift(finite_exponent - format.least_exponent, full_like(bits, format.mantissa)) + steps;
  const Tensor is_large = greater(code, format.largest);
  const Tensor is_negative = greater_equal(bits, std::int64_t{0x80000000});
  code = select(is_large, full_like(code, how.saturates ? format.largest : format.infinity), code);
  Tensor signed_code = code + as_type(is_negative, DType::s64) * format.sign;
  if (!format.has_negative_zero) {
    signed_code = select(equal(code, 0), zeros_like(code), signed_code);
    if (!how.saturates) signed_code = select(is_large, full_like(code, format.nan), signed_code);
  }
  const Tensor of_nan = full_like(code, type == ElementType::f8e5m2 ? how.nan_of_e5m2 : format.nan);
  return as_type(select(is_nan(x), of_nan, signed_code), DType::u8);
}

}  // namespace stoker::onnx
