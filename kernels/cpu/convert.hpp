// Storage elements to the type the arithmetic happens in, and back, a block at a time.
//
// Compiled once per instruction set: everything lives in a namespace of that set's name.
// Half conversion without F16C follows Fabian Giesen, "Float->half variants" (public domain).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stoker/runtime/base/dtype.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace stoker::kernels::cpu::STOKER_ISA {

/// float for the 16-bit floats, else the storage type itself.
template <class T>
using Compute =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

inline float half_to_float(std::uint16_t half) noexcept {
  constexpr std::uint32_t exponent_mask = 0x7c00U << 13;
  const std::uint32_t magnitude = (half & 0x7fffU) << 13;
  const std::uint32_t exponent = magnitude & exponent_mask;
  const std::uint32_t normal = magnitude + ((127U - 15U) << 23);
  const std::uint32_t special = normal + ((128U - 16U) << 23);
  const float subnormal =
      std::bit_cast<float>(normal + (1U << 23)) - std::bit_cast<float>(113U << 23);
  const std::uint32_t bits = exponent == exponent_mask ? special
                             : exponent == 0           ? std::bit_cast<std::uint32_t>(subnormal)
                                                       : normal;
  return std::bit_cast<float>(bits | (half & 0x8000U) << 16);
}

inline std::uint16_t float_to_half(float value) noexcept {
  constexpr std::uint32_t infinity = 255U << 23;
  constexpr std::uint32_t overflow = (127U + 16U) << 23;
  constexpr std::uint32_t smallest_normal = 113U << 23;
  constexpr std::uint32_t magic = ((127U - 15U) + (23U - 10U) + 1U) << 23;
  const auto raw = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = raw & 0x80000000U;
  const std::uint32_t bits = raw ^ sign;
  const std::uint32_t special = bits > infinity ? 0x7e00U : 0x7c00U;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + std::bit_cast<float>(magic)) -
      magic;
  const std::uint32_t normal = (bits + 0xc8000fffU + ((bits >> 13) & 1U)) >> 13;
  const std::uint32_t result = bits >= overflow         ? special
                               : bits < smallest_normal ? subnormal
                                                        : normal;
  return static_cast<std::uint16_t>(result | sign >> 16);
}

inline std::uint16_t float_to_bfloat(float value) noexcept {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = raw + 0x7fffU + ((raw >> 16) & 1U);
  const std::uint32_t quiet = raw | 0x400000U;
  // Narrowed once, after the choice: packing is the slow part of a vector of these.
  const std::uint32_t result = (raw & 0x7fffffffU) > 0x7f800000U ? quiet : rounded;
  return static_cast<std::uint16_t>(result >> 16);
}

/// Writes `n` elements of `from` as the compute type.
template <class T> inline void load_block(const T* from, Compute<T>* to, std::size_t n) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(from);
    std::size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
      _mm512_storeu_ps(to + i,
                       _mm512_maskz_cvtph_ps(
                           0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + i))));
#endif
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
      _mm256_storeu_ps(
          to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bits + i))));
#endif
#pragma GCC ivdep
    for (; i < n; ++i) to[i] = half_to_float(bits[i]);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(from);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i)
      to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits[i]) << 16);
  } else {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

/// Writes `n` values as storage elements, rounded to nearest even.
template <class T> inline void store_block(const Compute<T>* from, T* to, std::size_t n) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    auto* bits = reinterpret_cast<std::uint16_t*>(to);
    std::size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(bits + i),
          _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(bits + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#pragma GCC ivdep
    for (; i < n; ++i) bits[i] = float_to_half(from[i]);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    auto* bits = reinterpret_cast<std::uint16_t*>(to);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) bits[i] = float_to_bfloat(from[i]);
  } else {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

/// The same values as the compute type: `from` itself where no conversion is needed, else `buffer`.
template <class T>
inline const Compute<T>* loaded(const T* from, Compute<T>* buffer, std::size_t n) noexcept {
  if constexpr (std::is_same_v<T, Compute<T>>) {
    return from;
  } else {
    load_block(from, buffer, n);
    return buffer;
  }
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
