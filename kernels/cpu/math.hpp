// exp, log and tanh without branches or calls, so that loops over them vectorise.
//
// For float and double; each is within 4 units in the last place, follows IEEE 754 at infinities,
// keeps NaN and returns subnormal results. The series are the textbook ones, long enough for the
// reduced argument: exp by Taylor on |r| ≤ ln 2 / 2, log by 2 artanh on m in [√½, √2).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace stoker::kernels::cpu::STOKER_ISA {

template <class F> struct Ieee;

template <> struct Ieee<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa = 23;
  static constexpr Bits bias = 127;
  // ln 2 in two parts; the first has so few digits that its product with an exponent is exact.
  static constexpr float ln2_high = 0x1.62e4p-1F;
  static constexpr float ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float exp_least = -104.0F;  // below, e^x rounds to 0
  static constexpr float exp_most = 89.0F;     // above, to infinity
  static constexpr float tanh_most = 9.2F;     // above, tanh x rounds to 1
  static constexpr Bits sqrt_half = 0x3f3504f3;
  static constexpr std::size_t exp_terms = 6;
  static constexpr std::size_t log_terms = 5;
};

template <> struct Ieee<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa = 52;
  static constexpr Bits bias = 1023;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1;
  static constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double exp_least = -746.0;
  static constexpr double exp_most = 710.0;
  static constexpr double tanh_most = 19.1;
  static constexpr Bits sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr std::size_t exp_terms = 12;
  static constexpr std::size_t log_terms = 11;
};

/// 1/2!, 1/3!, …
template <class F, std::size_t Terms> constexpr std::array<F, Terms> inverse_factorials() noexcept {
  std::array<F, Terms> values{};
  double factorial = 1;
  for (std::size_t k = 0; k < Terms; ++k) {
    factorial *= static_cast<double>(k + 2);
    values[k] = static_cast<F>(1 / factorial);
  }
  return values;
}

/// 1/3, 1/5, …
template <class F, std::size_t Terms> constexpr std::array<F, Terms> inverse_odds() noexcept {
  std::array<F, Terms> values{};
  for (std::size_t k = 0; k < Terms; ++k)
    values[k] = static_cast<F>(1.0 / static_cast<double>(2 * k + 3));
  return values;
}

/// c[0] + c[1] x + c[2] x² + …, unrolled by construction: the vectoriser skips nested loops.
template <class F, std::size_t N> inline F polynomial(F x, const std::array<F, N>& c) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    F sum = c[N - 1];
    ((sum = sum * x + c[N - 2 - I]), ...);
    return sum;
  }
  (std::make_index_sequence<N - 1>{});
}

/// 1.5 · 2^mantissa: adding it leaves the nearest whole number in the low bits.
template <class F>
inline constexpr F rounding_offset = static_cast<F>(std::uint64_t{3} << (Ieee<F>::mantissa - 1));

/// 2^n for |n| below the exponent's bias; `n` in two's complement.
template <class F> inline F power_of_two(typename Ieee<F>::Bits n) noexcept {
  return std::bit_cast<F>((n + Ieee<F>::bias) << Ieee<F>::mantissa);
}

/// e^x = 2^n (1 + p) for x within [exp_least, exp_most]; a NaN gives p = NaN.
template <class F> struct Exponential {
  F p;
  typename Ieee<F>::Bits n;
};

template <class F> inline Exponential<F> exponential(F x) noexcept {
  using I = Ieee<F>;
  using Bits = typename I::Bits;
  constexpr auto coefficients = inverse_factorials<F, I::exp_terms>();
  const F shifted = x * static_cast<F>(1.4426950408889634074) + rounding_offset<F>;
  const F whole = shifted - rounding_offset<F>;
  const F r = (x - whole * I::ln2_high) - whole * I::ln2_low;
  return {r + r * r * polynomial(r, coefficients),
          std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(rounding_offset<F>)};
}

template <class F> inline F exp(F x) noexcept {
  using I = Ieee<F>;
  F bounded = x < I::exp_least ? I::exp_least : x;
  bounded = bounded > I::exp_most ? I::exp_most : bounded;
  const auto [p, n] = exponential(bounded);
  // In two factors, because 2^n itself may be out of range where the result is not. The offset
  // keeps the halved number positive: a logical shift is the one that every instruction set has.
  const typename I::Bits half = ((n + 4096) >> 1) - 2048;
  return (1 + p) * power_of_two<F>(half) * power_of_two<F>(n - half);
}

/// e^x for x ≤ 0, with 0 instead of subnormal results: two thirds of the work of exp().
template <class F> inline F exp_decaying(F x) noexcept {
  constexpr F least = 2 - Ieee<F>::exp_most;
  const auto [p, n] = exponential(x < least ? least : x);
  const F result = (1 + p) * power_of_two<F>(n);
  return x < least ? F{0} : result;
}

template <class F> inline F log(F x) noexcept {
  using I = Ieee<F>;
  using Bits = typename I::Bits;
  using Limits = std::numeric_limits<F>;
  constexpr auto coefficients = inverse_odds<F, I::log_terms>();
  constexpr F scale = static_cast<F>(Bits{1} << (I::mantissa + 1));
  const bool small = x < Limits::min();
  const F scaled = small ? x * scale : x;
  // x = 2^n m with m in [√½, √2), so that log m never cancels against n ln 2.
  const Bits shifted = std::bit_cast<Bits>(scaled) + ((I::bias << I::mantissa) - I::sqrt_half);
  const Bits exponent = shifted >> I::mantissa;
  const F m = std::bit_cast<F>((shifted & ((Bits{1} << I::mantissa) - 1)) + I::sqrt_half);
  const F offset = static_cast<F>(I::bias) + (small ? static_cast<F>(I::mantissa + 1) : F{0});
  const F n = (std::bit_cast<F>(std::bit_cast<Bits>(rounding_offset<F>) + exponent) -
               rounding_offset<F>)-offset;
  const F s = (m - 1) / (m + 1);
  const F z = s * s;
  const F log_m = 2 * s + 2 * s * z * polynomial(z, coefficients);
  const F result = n * I::ln2_high + (n * I::ln2_low + log_m);
  const F at_zero = x == 0 ? -Limits::infinity() : Limits::quiet_NaN();
  const F above = x <= Limits::max() ? result : x;  // infinity and NaN stay
  return x <= 0 ? at_zero : above;
}

template <class F> inline F tanh(F x) noexcept {
  using I = Ieee<F>;
  using Bits = typename I::Bits;
  constexpr Bits sign = Bits{1} << (8 * sizeof(F) - 1);
  const Bits bits = std::bit_cast<Bits>(x);
  const F magnitude = std::bit_cast<F>(bits & ~sign);
  const F bounded = magnitude > I::tanh_most ? I::tanh_most : magnitude;
  // tanh a = (e^2a - 1) / (e^2a + 1); the difference is formed so that it keeps its digits at 0.
  const auto [p, n] = exponential(2 * bounded);
  const F power = power_of_two<F>(n);
  const F minus_one = power * p + (power - 1);
  const F result = minus_one / (minus_one + 2);
  return std::bit_cast<F>(std::bit_cast<Bits>(result) | (bits & sign));
}

template <class F> inline F sigmoid(F x) noexcept {
  // Of -|x|: its exponential is in range, and where it is all there is, it keeps its digits.
  const F e = exp(x < 0 ? x : -x);
  return (x < 0 ? e : F{1}) / (1 + e);
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
