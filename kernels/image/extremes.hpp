// Minima and maxima of vectors for the CPU versions of kernels that order the values of a window:
// u8 as bytes, floats as floats. Where one operand is NaN, both are the second operand.
#pragma once

#include <algorithm>

#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/rows.hpp"

namespace stoker::image::STOKER_ISA {

typedef std::uint8_t Bytes [[gnu::vector_size(vector_bytes)]];

[[gnu::always_inline]] inline Bytes min(Bytes a, Bytes b) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return std::bit_cast<Bytes>(
      _mm512_min_epu8(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return std::bit_cast<Bytes>(
      _mm256_min_epu8(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return std::bit_cast<Bytes>(_mm_min_epu8(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#else
  return a < b ? a : b;
#endif
}
[[gnu::always_inline]] inline Bytes max(Bytes a, Bytes b) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return std::bit_cast<Bytes>(
      _mm512_max_epu8(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return std::bit_cast<Bytes>(
      _mm256_max_epu8(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return std::bit_cast<Bytes>(_mm_max_epu8(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#else
  return a > b ? a : b;
#endif
}

/// How images of T are ordered: in vectors of Vector, in lines of Line.
template <class T> struct Ordered {
  using Vector = Floats;
  using Line = float;
  static constexpr std::size_t step = lanes;

  template <class P> [[gnu::always_inline]] static Vector from(const T* at, P part) noexcept {
    return load(at, part);
  }
  template <class P> [[gnu::always_inline]] static void to(T* at, Vector v, P part) noexcept {
    store(at, v, part);
  }
};
template <> struct Ordered<std::uint8_t> {
  using Vector = Bytes;
  using Line = std::uint8_t;
  static constexpr std::size_t step = vector_bytes;

  template <class P>
  [[gnu::always_inline]] static Vector from(const std::uint8_t* at, P part) noexcept {
    return load_raw<Bytes>(at, part);
  }
  template <class P>
  [[gnu::always_inline]] static void to(std::uint8_t* at, Vector v, P part) noexcept {
    store_raw(at, v, part);
  }
};

/// Scratch of one band: a row of zeros, then lines that are padded by `radius` pixels on both sides and
/// by one vector that whole loads may touch.
template <class T> struct LineScratch {
  using Line = typename Ordered<T>::Line;
  std::size_t padding;  ///< elements before a line
  std::size_t line_bytes;
  std::size_t zeros_bytes;
  std::size_t bytes;

  LineScratch(const Extent& extent, std::int64_t radius, std::size_t lines) noexcept {
    const auto row = static_cast<std::size_t>(extent.row());
    padding = static_cast<std::size_t>(radius * extent.channels);
    line_bytes = aligned((row + 2 * padding) * sizeof(Line) + vector_bytes);
    zeros_bytes = aligned(row * sizeof(T));
    bytes = zeros_bytes + lines * line_bytes;
  }

  /// The first element of line `i` behind its padding.
  [[nodiscard]] Line* line(std::byte* scratch, std::size_t i) const noexcept {
    return reinterpret_cast<Line*>(scratch + zeros_bytes + i * line_bytes) + padding;
  }
};

}  // namespace stoker::image::STOKER_ISA
