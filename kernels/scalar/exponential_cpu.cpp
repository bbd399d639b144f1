#include <cmath>
#include <limits>
#include <type_traits>

#include "stoker/kernels/cpu/math.hpp"
#include "stoker/kernels/scalar/loops.hpp"
#include "stoker/kernels/scalar/series.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

/// f32 by our series, f64 by the C library or by kernels/cpu/math.hpp.
template <float (*f32)(float), double (*f64)(double)> struct Elementary {
  static float apply(float x) noexcept { return f32(x); }
  static double apply(double x) noexcept { return f64(x); }
};

struct Sqrt {
  template <class C> static C apply(C x) noexcept { return std::sqrt(x); }
};
struct Rsqrt {
  template <class C> static C apply(C x) noexcept { return 1 / std::sqrt(x); }
};

struct Pow {
  static float apply(float x, float y) noexcept { return series::pow_f32(x, y); }
  static double apply(double x, double y) noexcept { return std::pow(x, y); }
  /// By squaring, modulo the width; a negative exponent leaves nothing but of ±1.
  template <class C> static C apply(C base, C exponent) noexcept {
    using Wide = std::make_unsigned_t<decltype(C{} + C{})>;
    if constexpr (std::is_signed_v<C>)
      if (exponent < 0) return base == 1 ? C{1} : base == -1 ? (exponent & 1 ? C{-1} : C{1}) : C{0};
    Wide result = 1;
    Wide power = static_cast<Wide>(base);
    for (auto rest = static_cast<std::make_unsigned_t<C>>(exponent); rest != 0; rest >>= 1) {
      if (rest & 1) result *= power;
      power *= power;
    }
    return static_cast<C>(result);
  }
};

double exp_f64(double x) noexcept { return cpu::exp(x); }
double log_f64(double x) noexcept { return cpu::log(x); }
double tanh_f64(double x) noexcept { return cpu::tanh(x); }
double sigmoid_f64(double x) noexcept { return cpu::sigmoid(x); }

using Exp = Elementary<series::exp_f32, exp_f64>;
using Expm1 = Elementary<series::expm1_f32, std::expm1>;
using Log = Elementary<series::log_f32, log_f64>;
using Log1p = Elementary<series::log1p_f32, std::log1p>;
using Sigmoid = Elementary<series::sigmoid_f32, sigmoid_f64>;
using Tanh = Elementary<series::tanh_f32, tanh_f64>;
using Sinh = Elementary<series::sinh_f32, std::sinh>;
using Cosh = Elementary<series::cosh_f32, std::cosh>;
using Asinh = Elementary<series::asinh_f32, std::asinh>;
using Acosh = Elementary<series::acosh_f32, std::acosh>;
using Atanh = Elementary<series::atanh_f32, std::atanh>;
using Cbrt = Elementary<series::cbrt_f32, std::cbrt>;

constexpr LoopSet sets[] = {
    same<Exp, 1>("exp", Floats{}),         same<Expm1, 1>("expm1", Floats{}),
    same<Log, 1>("log", Floats{}),         same<Log1p, 1>("log1p", Floats{}),
    same<Sigmoid, 1>("sigmoid", Floats{}), same<Tanh, 1>("tanh", Floats{}),
    same<Sinh, 1>("sinh", Floats{}),       same<Cosh, 1>("cosh", Floats{}),
    same<Asinh, 1>("asinh", Floats{}),     same<Acosh, 1>("acosh", Floats{}),
    same<Atanh, 1>("atanh", Floats{}),     same<Sqrt, 1>("sqrt", Floats{}),
    same<Rsqrt, 1>("rsqrt", Floats{}),     same<Cbrt, 1>("cbrt", Floats{}),
    same<Pow, 2>("pow", Numbers{}),
};

}  // namespace

std::span<const LoopSet> exponential_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
