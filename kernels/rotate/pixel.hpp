// Pixels as vectors of four floats, for the CPU version of rotate; those of one channel as one float.
#pragma once

#include <cstring>
#include <type_traits>

#include "stoker/kernels/image/lanes.hpp"

namespace stoker::kernels::rotate::STOKER_ISA {

typedef float Quad [[gnu::vector_size(16)]];
typedef std::int32_t IntQuad [[gnu::vector_size(16)]];
typedef std::uint8_t ByteQuad [[gnu::vector_size(4)]];

/// Pixels of `Channels` elements of T.
template <class T, std::size_t Channels> struct Pixel {
  using Value = std::conditional_t<Channels == 1, float, Quad>;
  /// Elements that load() reads.
  static constexpr std::size_t loaded = Channels == 1 ? 1 : 4;

  [[gnu::always_inline]] static Value load(const T* from) noexcept {
    if constexpr (Channels == 1) {
      return image::STOKER_ISA::load_one(*from);
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
#if defined(__SSE4_1__)
      std::int32_t word;
      std::memcpy(&word, from, sizeof word);
      return _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(word)));
#else
      ByteQuad raw;
      std::memcpy(&raw, from, sizeof raw);
      return __builtin_convertvector(__builtin_convertvector(raw, IntQuad), Quad);
#endif
    } else if constexpr (std::is_same_v<T, float>) {
      Quad value;
      std::memcpy(&value, from, sizeof value);
      return value;
    } else {
#if defined(__F16C__)
      __m128i raw = {};
      std::memcpy(&raw, static_cast<const void*>(from), 8);
      return _mm_cvtph_ps(raw);
#else
      Quad value;
      for (std::size_t c = 0; c < 4; ++c) value[c] = static_cast<float>(from[c]);
      return value;
#endif
    }
  }
  /// The same without a look behind the pixel.
  static Value load_alone(const T* from) noexcept {
    T own[loaded] = {};
    std::memcpy(static_cast<void*>(own), from, Channels * sizeof(T));
    return load(own);
  }

  /// Rounds bytes to nearest; they are in range.
  [[gnu::always_inline]] static void store(T* to, Value value) noexcept {
    if constexpr (Channels == 1) {
      image::STOKER_ISA::store_one(*to, value);
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
#if defined(__SSE4_1__)
      const __m128i whole = _mm_cvttps_epi32(value + 0.5F);
      const __m128i words = _mm_packus_epi32(whole, whole);
      const std::int32_t raw = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
#else
      const auto raw =
          __builtin_convertvector(__builtin_convertvector(value + 0.5F, IntQuad), ByteQuad);
#endif
      std::memcpy(to, &raw, Channels);
    } else if constexpr (std::is_same_v<T, float>) {
      std::memcpy(to, &value, Channels * sizeof(float));
    } else {
#if defined(__F16C__)
      const __m128i raw = _mm_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
      std::memcpy(static_cast<void*>(to), &raw, Channels * sizeof(T));
#else
      for (std::size_t c = 0; c < Channels; ++c) to[c] = T{value[c]};
#endif
    }
  }
};

}  // namespace stoker::kernels::rotate::STOKER_ISA
