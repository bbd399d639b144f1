// Vectors of the widest registers of the instruction set that is being compiled, for the CPU
// versions of the image kernels: rows of u8, f16 or f32 in, floats to compute with, rows out.
//
// Rows have any length and alignment. over_row() runs a body over whole vectors and once more over
// the rest; loads and stores take that Full or Part along and touch no element outside the row.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "stoker/kernels/cpu/vector_bytes.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker::image::STOKER_ISA {

using kernels::cpu::STOKER_ISA::vector_bytes;

/// Floats in a vector, and 16-bit words in one.
inline constexpr std::size_t lanes = vector_bytes / sizeof(float);
inline constexpr std::size_t word_lanes = vector_bytes / sizeof(std::uint16_t);

typedef float Floats [[gnu::vector_size(vector_bytes)]];
typedef std::int32_t Ints [[gnu::vector_size(vector_bytes)]];
typedef std::uint16_t Words [[gnu::vector_size(vector_bytes)]];
typedef std::uint8_t LaneBytes [[gnu::vector_size(lanes)]];       // one byte a float
typedef std::uint8_t WordBytes [[gnu::vector_size(word_lanes)]];  // one byte a word

#if defined(__AVX512BW__) && defined(__AVX512VL__)
// The masked forms of conversions with every lane on become the plain ones; GCC 12 warns of the
// deliberately undefined operand inside those.
inline constexpr __mmask16 all_lanes = 0xffff;
inline constexpr __mmask32 all_words = 0xffffffff;
#endif

/// How much of a vector lies within the row.
struct Full {};
struct Part {
  std::size_t count;
};

/// Calls body(blocks, i, part) so that every element of [0, n) is covered once: `blocks` vectors of
/// `step` elements from i on while they fit, then single ones, then the rest as a Part.
template <std::size_t Step, std::size_t Blocks, class Body>
[[gnu::always_inline]] inline void over_row(std::size_t n, const Body& body) {
  std::size_t i = 0;
  for (; i + Blocks * Step <= n; i += Blocks * Step)
    body(std::integral_constant<std::size_t, Blocks>{}, i, Full{});
  constexpr std::integral_constant<std::size_t, 1> one;
  if constexpr (Blocks > 1)
    for (; i + Step <= n; i += Step) body(one, i, Full{});
  if (i < n) body(one, i, Part{n - i});
}

template <class Vector, class T>
[[gnu::always_inline]] inline Vector load_raw(const T* from, Full) noexcept {
  Vector raw;
  std::memcpy(static_cast<void*>(&raw), from, sizeof raw);
  return raw;
}
template <class Vector, class T>
[[gnu::always_inline]] inline Vector load_raw(const T* from, Part part) noexcept {
  Vector raw = {};
  std::memcpy(static_cast<void*>(&raw), from, part.count * sizeof(T));
  return raw;
}
template <class T, class Vector>
[[gnu::always_inline]] inline void store_raw(T* to, Vector raw, Full) noexcept {
  std::memcpy(static_cast<void*>(to), &raw, sizeof raw);
}
template <class T, class Vector>
[[gnu::always_inline]] inline void store_raw(T* to, Vector raw, Part part) noexcept {
  std::memcpy(static_cast<void*>(to), &raw, part.count * sizeof(T));
}

[[gnu::always_inline]] inline Floats splat(float value) noexcept { return value - Floats{}; }

[[gnu::always_inline]] inline Floats max(Floats a, Floats b) noexcept { return a > b ? a : b; }
[[gnu::always_inline]] inline Floats min(Floats a, Floats b) noexcept { return a < b ? a : b; }

/// Loads as floats; bytes keep their value (0–255).
template <class P> [[gnu::always_inline]] inline Floats load(const float* from, P part) noexcept {
  return load_raw<Floats>(from, part);
}
template <class P>
[[gnu::always_inline]] inline Floats load(const std::uint8_t* from, P part) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const auto raw = load_raw<__m128i>(from, part);
  return __builtin_convertvector(std::bit_cast<Ints>(_mm512_maskz_cvtepu8_epi32(all_lanes, raw)),
                                 Floats);
#elif defined(__AVX2__)
  const auto raw = load_raw<std::int64_t>(from, part);
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(raw)));
#else
  const auto raw = load_raw<LaneBytes>(from, part);
  return __builtin_convertvector(__builtin_convertvector(raw, Ints), Floats);
#endif
}
template <class P> [[gnu::always_inline]] inline Floats load(const Half* from, P part) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return _mm512_maskz_cvtph_ps(all_lanes, load_raw<__m256i>(from, part));
#elif defined(__AVX2__) && defined(__F16C__)
  return _mm256_cvtph_ps(load_raw<__m128i>(from, part));
#else
  struct Raw {
    Half at[lanes];
  };
  const auto raw = load_raw<Raw>(from, part);
  Floats values;
  for (std::size_t i = 0; i < lanes; ++i) values[i] = static_cast<float>(raw.at[i]);
  return values;
#endif
}

/// Stores floats; bytes are rounded to nearest (halves up) and clamped, NaN becomes 0.
template <class P>
[[gnu::always_inline]] inline void store(float* to, Floats values, P part) noexcept {
  store_raw(to, values, part);
}
template <class P>
[[gnu::always_inline]] inline void store(std::uint8_t* to, Floats values, P part) noexcept {
  const Floats clamped = min(max(values + 0.5F, Floats{}), splat(255.0F));
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  store_raw(to,
            _mm512_maskz_cvtepi32_epi8(all_lanes, _mm512_maskz_cvttps_epi32(all_lanes, clamped)),
            part);
#else
  store_raw(to, __builtin_convertvector(__builtin_convertvector(clamped, Ints), LaneBytes), part);
#endif
}
template <class P>
[[gnu::always_inline]] inline void store(Half* to, Floats values, P part) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  store_raw(to, _mm512_maskz_cvtps_ph(all_lanes, values, _MM_FROUND_TO_NEAREST_INT), part);
#elif defined(__AVX2__) && defined(__F16C__)
  store_raw(to, _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT), part);
#else
  struct Raw {
    Half at[lanes];
  } raw;
  for (std::size_t i = 0; i < lanes; ++i) raw.at[i] = Half{values[i]};
  store_raw(to, raw, part);
#endif
}

/// Single elements, by the same rules.
[[gnu::always_inline]] inline float load_one(float from) noexcept { return from; }
[[gnu::always_inline]] inline float load_one(std::uint8_t from) noexcept { return from; }
[[gnu::always_inline]] inline float load_one(Half from) noexcept {
  return static_cast<float>(from);
}
[[gnu::always_inline]] inline void store_one(float& to, float value) noexcept { to = value; }
[[gnu::always_inline]] inline void store_one(std::uint8_t& to, float value) noexcept {
  const float up = value + 0.5F;
  to = static_cast<std::uint8_t>(up > 0.0F ? (up < 255.0F ? up : 255.0F) : 0.0F);
}
[[gnu::always_inline]] inline void store_one(Half& to, float value) noexcept { to = Half{value}; }

/// Bytes as 16-bit words and back. narrow() expects words ≤ 255.
template <class P>
[[gnu::always_inline]] inline Words load_words(const std::uint8_t* from, P part) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return std::bit_cast<Words>(_mm512_maskz_cvtepu8_epi16(all_words, load_raw<__m256i>(from, part)));
#elif defined(__AVX2__)
  return std::bit_cast<Words>(_mm256_cvtepu8_epi16(load_raw<__m128i>(from, part)));
#else
  return __builtin_convertvector(load_raw<WordBytes>(from, part), Words);
#endif
}
template <class P>
[[gnu::always_inline]] inline void store_words(std::uint8_t* to, Words values, P part) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  store_raw(to, _mm512_maskz_cvtepi16_epi8(all_words, std::bit_cast<__m512i>(values)), part);
#elif defined(__AVX2__)
  const auto raw = std::bit_cast<__m256i>(values);
  store_raw(to, _mm_packus_epi16(_mm256_castsi256_si128(raw), _mm256_extracti128_si256(raw, 1)),
            part);
#else
  store_raw(to, __builtin_convertvector(values, WordBytes), part);
#endif
}

/// One half of a vector of words, as signed numbers, in floats.
template <int Half> [[gnu::always_inline]] inline Floats signed_half(Words values) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const __m256i half = _mm512_maskz_extracti64x4_epi64(0xf, std::bit_cast<__m512i>(values), Half);
  return __builtin_convertvector(std::bit_cast<Ints>(_mm512_maskz_cvtepi16_epi32(all_lanes, half)),
                                 Floats);
#elif defined(__AVX2__)
  const __m128i half = _mm256_extracti128_si256(std::bit_cast<__m256i>(values), Half);
  return __builtin_convertvector(std::bit_cast<Ints>(_mm256_cvtepi16_epi32(half)), Floats);
#else
  typedef std::int16_t HalfWords [[gnu::vector_size(vector_bytes / 2)]];
  HalfWords halves[2];
  std::memcpy(halves, &values, sizeof values);
  return __builtin_convertvector(__builtin_convertvector(halves[Half], Ints), Floats);
#endif
}

/// Calls body(half, offset, part) for the two halves of a vector of words, with the part of each
/// that lies within the row.
template <class Body> [[gnu::always_inline]] inline void over_halves(Full, const Body& body) {
  body(std::integral_constant<int, 0>{}, std::size_t{0}, Full{});
  body(std::integral_constant<int, 1>{}, lanes, Full{});
}
template <class Body> [[gnu::always_inline]] inline void over_halves(Part part, const Body& body) {
  body(std::integral_constant<int, 0>{}, std::size_t{0},
       Part{part.count < lanes ? part.count : lanes});
  if (part.count > lanes) body(std::integral_constant<int, 1>{}, lanes, Part{part.count - lanes});
}

/// The upper 16 bits of each 32-bit product.
[[gnu::always_inline]] inline Words multiply_high(Words a, Words b) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return std::bit_cast<Words>(
      _mm512_mulhi_epu16(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return std::bit_cast<Words>(
      _mm256_mulhi_epu16(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return std::bit_cast<Words>(
      _mm_mulhi_epu16(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#else
  Words high;
  for (std::size_t i = 0; i < word_lanes; ++i)
    high[i] = static_cast<std::uint16_t>((std::uint32_t{a[i]} * b[i]) >> 16);
  return high;
#endif
}

}  // namespace stoker::image::STOKER_ISA
