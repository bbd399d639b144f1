#include <cmath>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

// What the language leaves open, x / 0 and min / -1, is 0 and min here.
constexpr std::string_view quotient_text = R"($T quotient_of($T a, $T b) {
  if (b == $T(0)) return $T(0);
  if (b == $T(-1) && $T(-1) < $T(0)) return $T(0) - a;
  return a / b;
}
)";
// Signs by hand: GLSL's own remainder is open for negative operands.
constexpr std::string_view remainder_text = R"($T remainder_of($T a, $T b) {
  if (b == $T(0)) return $T(0);
  return a - quotient_of(a, b) * b;
}
)";
// fmod exactly, by long division of the significands; both counted in units of 2^-149.
constexpr std::string_view fmod_text = R"(float remainder_of(float a, float b) {
  uint x = floatBitsToUint(a) & 0x7fffffffu;
  uint y = floatBitsToUint(b) & 0x7fffffffu;
  if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) return uintBitsToFloat(0x7fc00000u);
  if (x < y) return a;
  int shift = int(max(x >> 23, 1u)) - int(max(y >> 23, 1u));
  uint rest = (x & 0x7fffffu) | (x >= 0x800000u ? 0x800000u : 0u);
  uint divisor = (y & 0x7fffffu) | (y >= 0x800000u ? 0x800000u : 0u);
  rest %= divisor;
  while (shift > 0 && rest != 0u) {
    int step = min(shift, 8);
    rest = (rest << step) % divisor;
    shift -= step;
  }
  float sign = (floatBitsToUint(a) >> 31) != 0u ? -1.0 : 1.0;
  if (rest == 0u) return sign * 0.0;
  int exponent = int(max(y >> 23, 1u));
  int up = min(23 - findMSB(rest), exponent - 1);
  rest <<= up;
  exponent -= up;
  uint bits = rest >= 0x800000u ? (rest & 0x7fffffu) | uint(exponent) << 23 : rest;
  return sign * uintBitsToFloat(bits);
}
)";
constexpr std::string_view round_text = R"($T round_of($T x) {
  $T whole = trunc(abs(x));
  $T away = abs(x) - whole >= $T(0.5) ? whole + $T(1) : whole;
  return x < $T(0) ? -away : x == $T(0) ? x : away;
}
)";

ScalarGlsl remainder_glsl(DType operand, DType) {
  if (operand == DType::f64) return {};
  if (is_float(operand)) return {"remainder_of($0, $1)", {fmod_text}};
  return {"remainder_of($0, $1)", {quotient_text, remainder_text}};
}

/// `text` for floats; integers stay as they are.
template <const char* text> ScalarGlsl whole_glsl(DType operand, DType) {
  return is_float(operand) ? ScalarGlsl{text} : ScalarGlsl{"$0"};
}
constexpr char floor_call[] = "floor($0)";
constexpr char ceil_call[] = "ceil($0)";

// Not $0 != $0: a driver may take that for false.
ScalarGlsl max_glsl(DType operand, DType) {
  return {is_float(operand) ? "($0 > $1 || isnan($0) ? $0 : $1)" : "($0 > $1 ? $0 : $1)"};
}
ScalarGlsl min_glsl(DType operand, DType) {
  return {is_float(operand) ? "($0 < $1 || isnan($0) ? $0 : $1)" : "($0 < $1 ? $0 : $1)"};
}

constexpr ScalarFunction functions[] = {
    {.name = "add",
     .summary = "a + b; integers wrap",
     .arity = 2,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 + $1"}; },
     .reference = [](const double* x, DType) { return x[0] + x[1]; }},
    {.name = "subtract",
     .summary = "a - b; integers wrap",
     .arity = 2,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 - $1"}; },
     .reference = [](const double* x, DType) { return x[0] - x[1]; }},
    {.name = "multiply",
     .summary = "a * b; integers wrap",
     .arity = 2,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 * $1"}; },
     .reference = [](const double* x, DType) { return x[0] * x[1]; }},
    {.name = "divide",
     .summary = "a / b",
     .arity = 2,
     .takes = ScalarOperands::floats,
     .cost_ns = 0.2,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 / $1"}; },
     .reference = [](const double* x, DType) { return x[0] / x[1]; }},
    // x / 0 is 0, and the least integer by -1 wraps, on every device.
    {.name = "quotient",
     .summary = "the quotient of integers, truncated toward 0; 0 where b is 0",
     .arity = 2,
     .takes = ScalarOperands::integers,
     .cost_ns = 0.8,
     .glsl =
         [](DType, DType) {
           return ScalarGlsl{"quotient_of($0, $1)", {quotient_text}};
         },
     .reference = [](const double* x, DType) { return x[1] == 0 ? 0 : std::trunc(x[0] / x[1]); }},
    // The sign of the dividend; integers: x rem 0 is 0.
    {.name = "remainder",
     .summary = "a - b * trunc(a / b), which has the sign of a; 0 for integers where b is 0",
     .arity = 2,
     .closed = true,
     .cost_ns = 5,
     .glsl = &remainder_glsl,
     .reference =
         [](const double* x, DType dtype) {
           return x[1] == 0 && !is_float(dtype) ? 0 : std::fmod(x[0], x[1]);
         }},
    // A NaN on either side wins.
    {.name = "max",
     .summary = "the larger of a and b; NaN if either is NaN",
     .arity = 2,
     .closed = true,
     .glsl = &max_glsl,
     .reference = [](const double* x, DType) { return x[0] > x[1] || x[0] != x[0] ? x[0] : x[1]; }},
    {.name = "min",
     .summary = "the smaller of a and b; NaN if either is NaN",
     .arity = 2,
     .closed = true,
     .glsl = &min_glsl,
     .reference = [](const double* x, DType) { return x[0] < x[1] || x[0] != x[0] ? x[0] : x[1]; }},
    {.name = "relu",
     .summary = "max(a, 0); NaN stays NaN",
     .closed = true,
     .glsl =
         [](DType operand, DType) {
           return ScalarGlsl{is_float(operand) ? "($0 > $T(0) || isnan($0) ? $0 : $T(0))"
                                               : "($0 > $T(0) ? $0 : $T(0))"};
         },
     .reference = [](const double* x, DType) { return x[0] > 0 || x[0] != x[0] ? x[0] : 0; }},
    {.name = "negate",
     .summary = "-a; integers wrap",
     .closed = true,
     .glsl = [](DType operand,
                DType) { return ScalarGlsl{is_float(operand) ? "-$0" : "$T(0) - $0"}; },
     .reference = [](const double* x, DType) { return -x[0]; }},
    {.name = "abs",
     .summary = "|a|; the smallest signed integer stays as it is",
     .closed = true,
     .glsl =
         [](DType operand, DType) {
           return ScalarGlsl{is_float(operand)    ? "abs($0)"
                             : is_signed(operand) ? "($0 < $T(0) ? $T(0) - $0 : $0)"
                                                  : "$0"};
         },
     .reference = [](const double* x, DType) { return std::abs(x[0]); }},
    // Keeps a zero with its sign, and NaN.
    {.name = "sign",
     .summary = "the sign of a: -1, 0 or 1; a zero keeps its sign, NaN stays NaN",
     .closed = true,
     .glsl = [](DType,
                DType) { return ScalarGlsl{"($0 > $T(0) ? $T(1) : $0 < $T(0) ? $T(-1) : $0)"}; },
     .reference = [](const double* x, DType) { return x[0] > 0   ? 1
                                                      : x[0] < 0 ? -1
                                                                 : x[0]; }},
    {.name = "floor",
     .summary = "a rounded down to an integer",
     .closed = true,
     .glsl = &whole_glsl<floor_call>,
     .reference = [](const double* x, DType) { return std::floor(x[0]); }},
    {.name = "ceil",
     .summary = "a rounded up to an integer",
     .closed = true,
     .glsl = &whole_glsl<ceil_call>,
     .reference = [](const double* x, DType) { return std::ceil(x[0]); }},
    // Half away from zero.
    {.name = "round",
     .summary = "a rounded to the nearest integer; halves round away from 0",
     .closed = true,
     .glsl =
         [](DType operand, DType) {
           return is_float(operand) ? ScalarGlsl{"round_of($0)", {round_text}} : ScalarGlsl{"$0"};
         },
     .reference = [](const double* x, DType) { return std::round(x[0]); }},
};

}  // namespace

std::span<const ScalarFunction> arithmetic() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
