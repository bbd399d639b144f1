#include <cmath>
#include <limits>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

constexpr std::array<std::string_view, 3> texts{common_text, exponential_text};

// By squaring, modulo 2^32 or 2^64; a negative exponent leaves nothing but of 1 and -1.
constexpr std::string_view pow_text = R"($T power_of($T base, $T exponent) {
  if (exponent < $T(0)) {
    bool odd = ($T(exponent) & $T(1)) != $T(0);
    return base == $T(1) ? $T(1) : base == $T(-1) ? (odd ? $T(-1) : $T(1)) : $T(0);
  }
  $T result = $T(1);
  while (exponent != $T(0)) {
    if ((exponent & $T(1)) != $T(0)) result *= base;
    base *= base;
    exponent >>= 1;
  }
  return result;
}
)";

ScalarGlsl pow_glsl(DType operand, DType) {
  if (!is_float(operand)) return {"power_of($0, $1)", {pow_text}};
  return unless_f64(operand, {"pow_f32($0, $1)", texts});
}

double pow_reference(const double* x, DType dtype) {
  if (is_float(dtype)) return std::pow(x[0], x[1]);
  if (x[1] < 0) return x[0] == 1 ? 1 : x[0] == -1 ? (std::fmod(x[1], 2) != 0 ? -1 : 1) : 0;
  return std::pow(x[0], x[1]);
}

constexpr ScalarFunction functions[] = {
    {.name = "exp",
     .summary = "e^a",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.35,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"exp_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::exp(x[0]); }},
    {.name = "expm1",
     .summary = "e^a - 1, accurate near 0",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.35,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"expm1_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::expm1(x[0]); }},
    {.name = "log",
     .summary = "ln a; NaN below 0",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.6,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"log_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::log(x[0]); }},
    {.name = "log1p",
     .summary = "ln(1 + a), accurate near 0",
     .takes = ScalarOperands::floats,
     .ulps = 3,
     .cost_ns = 0.8,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"log1p_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::log1p(x[0]); }},
    {.name = "sigmoid",
     .summary = "1 / (1 + e^-a)",
     .takes = ScalarOperands::floats,
     .ulps = 3,
     .cost_ns = 0.55,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"sigmoid_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return 1 / (1 + std::exp(-x[0])); }},
    {.name = "tanh",
     .summary = "the hyperbolic tangent of a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 0.5,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"tanh_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::tanh(x[0]); }},
    {.name = "sinh",
     .summary = "the hyperbolic sine of a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 1.1,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"sinh_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::sinh(x[0]); }},
    {.name = "cosh",
     .summary = "the hyperbolic cosine of a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 1.1,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"cosh_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::cosh(x[0]); }},
    {.name = "asinh",
     .summary = "the inverse of sinh",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 2.5,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"asinh_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::asinh(x[0]); }},
    {.name = "acosh",
     .summary = "the inverse of cosh",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 2.5,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"acosh_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::acosh(x[0]); }},
    {.name = "atanh",
     .summary = "the inverse of tanh",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 1.2,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"atanh_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::atanh(x[0]); }},
    {.name = "cbrt",
     .summary = "the cube root of a",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.75,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"cbrt_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::cbrt(x[0]); }},
    {.name = "sqrt",
     .summary = "√a",
     .takes = ScalarOperands::floats,
     .cost_ns = 0.25,
     .glsl = [](DType operand, DType) -> ScalarGlsl {
       if (operand == DType::f64) return {"sqrt($0)"};
       return {"root_f32($0)", {common_text}};
     },
     .reference = [](const double* x, DType) { return std::sqrt(x[0]); }},
    {.name = "rsqrt",
     .summary = "1 / √a",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 0.5,
     .glsl = [](DType operand, DType) -> ScalarGlsl {
       if (operand == DType::f64) return {"$T(1) / sqrt($0)"};
       return {"1.0 / root_f32($0)", {common_text}};
     },
     .reference = [](const double* x, DType) { return 1 / std::sqrt(x[0]); }},
    // As C's; integers modulo their width, where a negative exponent leaves 0 but of 1 and -1.
    {.name = "pow",
     .summary = "a to the power of b; 0^0 = 1",
     .arity = 2,
     .ulps = 2,
     .cost_ns = 2.3,
     .glsl = &pow_glsl,
     .reference = &pow_reference},
};

}  // namespace

std::span<const ScalarFunction> exponential() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
