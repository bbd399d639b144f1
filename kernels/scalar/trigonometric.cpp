#include <cmath>
#include <limits>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

// 2/π to 192 bits past the point, of which three words meet x's significand (M. Payne and R. Hanek,
// "Radian reduction for trigonometric functions", 1983).
constexpr std::string_view reduction_text = R"(
const uint two_over_pi[7] = uint[7](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                    0xdb629599u, 0x3c439041u);
float reduced_far(float a, out int n) {
  uint bits = floatBitsToUint(a);
  int exponent = int(bits >> 23) - 127;
  uint significand = (bits & 0x7fffffu) | 0x800000u;
  // a = significand 2^(exponent - 23); the words of 2/pi from bit `first` on give turns mod 4.
  int first = exponent - 23 - 2 + 32;
  uint word = uint(first) >> 5;
  uint by = uint(first) & 31u;
  uint w[4];
  for (uint k = 0; k < 4; ++k) {
    uint left = word + k < 7u ? two_over_pi[word + k] : 0u;
    uint right = word + k + 1u < 7u ? two_over_pi[word + k + 1u] : 0u;
    w[k] = by == 0u ? left : (left << by) | (right >> (32u - by));
  }
  uint high, low, carry;
  umulExtended(significand, w[1], high, low);
  uint part_high, part_low;
  umulExtended(significand, w[2], part_high, part_low);
  uint middle = uaddCarry(low, part_high, carry);
  uint top = significand * w[0] + high + carry;
  // top.middle: two bits of quarter turns, then the fraction.
  n = int(top >> 30);
  uint fraction = (top << 2) | (middle >> 30);
  uint rest = (middle << 2) | (part_low >> 30);
  bool down = (fraction & 0x80000000u) != 0u;
  if (down) {
    ++n;
    fraction = ~fraction;
    rest = ~rest;
  }
  int lead = fraction == 0u ? 32 : 31 - findMSB(fraction);
  uint kept = lead == 0 ? fraction : lead >= 32 ? rest : (fraction << lead) | (rest >> (32 - lead));
  float r = float(kept) * power_of_two(-32 - lead) * 1.57079633;
  return down ? -r : r;
}
float reduced_any(float x, out int n) {
  float a = abs(x);
  if (!(a < infinity_f32())) {
    n = 0;
    return nan_f32();
  }
  if (a > 12800.0) return reduced_far(a, n);
  float turns = quarter_turns(a);
  n = int(turns);
  return reduced(a, turns);
}
float sin_f32(float x) {
  int n;
  float r = reduced_any(x, n);
  return sin_reduced(x, r, n);
}
float cos_f32(float x) {
  int n;
  float r = reduced_any(x, n);
  return cos_reduced(r, n);
}
float tan_f32(float x) {
  int n;
  float r = reduced_any(x, n);
  return tan_reduced(x, r, n);
}
)";

constexpr std::array<std::string_view, 3> texts{common_text, trigonometric_text, reduction_text};

constexpr ScalarFunction functions[] = {
    {.name = "sin",
     .summary = "the sine of a",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.4,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"sin_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::sin(x[0]); }},
    {.name = "cos",
     .summary = "the cosine of a",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.4,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"cos_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::cos(x[0]); }},
    {.name = "tan",
     .summary = "the tangent of a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 0.5,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"tan_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::tan(x[0]); }},
    {.name = "asin",
     .summary = "the angle whose sine is a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 0.35,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"asin_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::asin(x[0]); }},
    {.name = "acos",
     .summary = "the angle whose cosine is a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 0.35,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"acos_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::acos(x[0]); }},
    {.name = "atan",
     .summary = "the angle whose tangent is a",
     .takes = ScalarOperands::floats,
     .ulps = 3,
     .cost_ns = 0.5,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"atan_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::atan(x[0]); }},
    {.name = "atan2",
     .summary = "the angle of the point (x = b, y = a), in the right quadrant",
     .arity = 2,
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 0.95,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"atan2_f32($0, $1)", texts});
         },
     .reference = [](const double* x, DType) { return std::atan2(x[0], x[1]); }},
};

}  // namespace

std::span<const ScalarFunction> trigonometric() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
