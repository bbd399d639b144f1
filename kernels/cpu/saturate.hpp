// Floats as integers. Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace stoker::kernels::cpu::STOKER_ISA {

/// Truncates toward zero and saturates; NaN becomes 0.
template <class T, class F> inline T saturate(F value) noexcept {
  using Limits = std::numeric_limits<T>;
  using Step = std::conditional_t<(sizeof(T) < 4), std::int32_t, T>;
  // 2^digits, which unlike the largest value is exact in every float type.
  constexpr F beyond = 2 * static_cast<F>(std::uint64_t{1} << (Limits::digits - 1));
  constexpr F least = std::is_signed_v<T> ? -beyond : F{0};
  F bounded = value == value ? value : F{0};
  bounded = bounded < least ? least : bounded;
  const bool over = bounded >= beyond;
  bounded = over ? F{0} : bounded;
  const T result = static_cast<T>(static_cast<Step>(bounded));
  return over ? Limits::max() : result;
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
