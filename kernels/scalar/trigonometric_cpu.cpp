#include <cmath>

#include "stoker/kernels/scalar/loops.hpp"
#include "stoker/kernels/scalar/series.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

/// Beyond, the reduction by π/2 loses digits; such arguments go through the C library in f64.
constexpr float limit = 12800.0F;

template <float (*near)(float), double (*exact)(double)>
[[gnu::flatten]] void periodic(const void* const* operands, void* result, std::size_t n) noexcept {
  const auto* x = static_cast<const float*>(operands[0]);
  auto* out = static_cast<float*>(result);
  std::uint32_t far = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) far |= std::fabs(x[i]) > limit ? 1U : 0U;
  if (far) {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = std::fabs(x[i]) > limit ? static_cast<float>(exact(static_cast<double>(x[i])))
                                       : near(x[i]);
    return;
  }
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = near(x[i]);
}

float sin_near(float x) noexcept {
  const float n = series::quarter_turns(series::abs(x));
  return series::sin_reduced(x, series::reduced(series::abs(x), n), series::whole_number(n));
}
float cos_near(float x) noexcept {
  const float n = series::quarter_turns(series::abs(x));
  return series::cos_reduced(series::reduced(series::abs(x), n), series::whole_number(n));
}
float tan_near(float x) noexcept {
  const float n = series::quarter_turns(series::abs(x));
  return series::tan_reduced(x, series::reduced(series::abs(x), n), series::whole_number(n));
}

template <float (*f32)(float), double (*f64)(double)> struct Elementary {
  static float apply(float x) noexcept { return f32(x); }
  static double apply(double x) noexcept { return f64(x); }
};

template <float (*near)(float), double (*exact)(double)>
constexpr LoopSet periodic_set(std::string_view name) {
  LoopSet set = same<Elementary<near, exact>, 1>(name, Types<double>{});
  for (const std::size_t dtype : {index_of<float>, index_of<Half>, index_of<BFloat16>})
    set.by_operand[dtype] = &periodic<near, exact>;
  return set;
}

struct Atan2 {
  static float apply(float y, float x) noexcept { return series::atan2_f32(y, x); }
  static double apply(double y, double x) noexcept { return std::atan2(y, x); }
};
using Asin = Elementary<series::asin_f32, std::asin>;
using Acos = Elementary<series::acos_f32, std::acos>;
using Atan = Elementary<series::atan_f32, std::atan>;

constexpr LoopSet sets[] = {
    periodic_set<sin_near, std::sin>("sin"), periodic_set<cos_near, std::cos>("cos"),
    periodic_set<tan_near, std::tan>("tan"), same<Asin, 1>("asin", Floats{}),
    same<Acos, 1>("acos", Floats{}),         same<Atan, 1>("atan", Floats{}),
    same<Atan2, 2>("atan2", Floats{}),
};

}  // namespace

std::span<const LoopSet> trigonometric_loops() noexcept { return sets; }

}  // namespace stoker::kernels::scalar::STOKER_ISA
