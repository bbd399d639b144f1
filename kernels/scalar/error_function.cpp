#include <cmath>
#include <limits>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

constexpr std::array<std::string_view, 3> texts{common_text, exponential_text, error_function_text};

/// By bisection of erf and, near 1, of its complement: slow and plain.
double inverse(double x) {
  const double a = std::abs(x);
  if (!(a < 1)) return a == 1 ? x * std::numeric_limits<double>::infinity() : std::nan("");
  if (a == 0) return x;
  double low = 0, high = 6;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    const bool below = a < 0.5 ? std::erf(middle) < a : std::erfc(middle) > 1 - a;
    (below ? low : high) = middle;
  }
  return std::copysign((low + high) / 2, x);
}

constexpr ScalarFunction functions[] = {
    {.name = "erf",
     .summary = "the error function of a",
     .takes = ScalarOperands::floats,
     .ulps = 2,
     .cost_ns = 1.3,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"erf_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::erf(x[0]); }},
    {.name = "erfc",
     .summary = "1 - erf(a)",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 1.4,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"erfc_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return std::erfc(x[0]); }},
    {.name = "erf_inv",
     .summary = "the inverse of erf: the x with erf(x) = a",
     .takes = ScalarOperands::floats,
     .ulps = 4,
     .cost_ns = 1.5,
     .glsl =
         [](DType operand, DType) {
           return unless_f64(operand, {"erf_inv_f32($0)", texts});
         },
     .reference = [](const double* x, DType) { return inverse(x[0]); }},
};

}  // namespace

std::span<const ScalarFunction> error_function() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
