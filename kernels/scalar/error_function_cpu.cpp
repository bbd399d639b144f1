#include <cmath>
#include <limits>

#include "stoker/kernels/scalar/loops.hpp"
#include "stoker/kernels/scalar/series.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

/// Newton's method on the complement, which keeps its digits near ±1, from the f32 series.
double erf_inv_f64(double x) noexcept {
  const double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * std::numeric_limits<double>::infinity() : std::nan("");
  if (a < 1e-9) return x * 0.88622692545275801365;
  const double rest = 1 - a;  // exact from ½ on, where it is used
  constexpr double slope = 1.1283791670955125739;
  double y = static_cast<double>(series::erf_inv_f32(static_cast<float>(a)));
  if (!(y < 6)) y = std::sqrt(-std::log(rest * 2));
  for (int step = 0; step < 4; ++step) {
    const double over = a < 0.5 ? std::erf(y) - a : rest - std::erfc(y);
    const double u = over / (slope * std::exp(-y * y));
    y -= u / (1 + y * u);  // Halley's correction
  }
  return std::copysign(y, x);
}

template <float (*f32)(float), double (*f64)(double)> struct Elementary {
  static float apply(float x) noexcept { return f32(x); }
  static double apply(double x) noexcept { return f64(x); }
};
using Erf = Elementary<series::erf_f32, std::erf>;
using Erfc = Elementary<series::erfc_f32, std::erfc>;
using ErfInv = Elementary<series::erf_inv_f32, erf_inv_f64>;

constexpr LoopSet sets[] = {
    same<Erf, 1>("erf", Floats{}),
    same<Erfc, 1>("erfc", Floats{}),
    same<ErfInv, 1>("erf_inv", Floats{}),
};

}  // namespace

std::span<const LoopSet> error_function_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
