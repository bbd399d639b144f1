// Resampling rows with any filter, in floats: downwards into a line, and across from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/sampling.hpp"

namespace stoker::kernels::resize::STOKER_ISA {

using namespace image::STOKER_ISA;

/// A pixel of up to four channels.
typedef float Pixel [[gnu::vector_size(16)]];

[[gnu::always_inline]] inline Pixel load_pixel(const float* from) noexcept {
  Pixel pixel;
  std::memcpy(&pixel, from, sizeof pixel);
  return pixel;
}

// Each writes four elements, of which the last may be one too many.
[[gnu::always_inline]] inline void store_pixel(float* to, Pixel pixel) noexcept {
  std::memcpy(to, &pixel, sizeof pixel);
}
[[gnu::always_inline]] inline void store_pixel(std::uint8_t* to, Pixel pixel) noexcept {
#if defined(__SSE2__)
  const __m128i whole = _mm_cvttps_epi32(pixel + 0.5F);  // below 0: cut to at most 0, then clamped
  const __m128i words = _mm_packs_epi32(whole, whole);
  const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  std::memcpy(to, &bytes, sizeof bytes);
#else
  for (int c = 0; c < 4; ++c) store_one(to[c], pixel[c]);
#endif
}
[[gnu::always_inline]] inline void store_pixel(Half* to, Pixel pixel) noexcept {
#if defined(__F16C__)
  const __m128i halves = _mm_cvtps_ph(pixel, _MM_FROUND_TO_NEAREST_INT);
  std::memcpy(static_cast<void*>(to), &halves, 4 * sizeof(Half));
#else
  for (int c = 0; c < 4; ++c) store_one(to[c], pixel[c]);
#endif
}

/// line = Σ weight · row over the rows from `rows` on.
template <class T>
inline void combine_down(const T* rows, const float* weights, std::size_t taps, std::size_t row,
                         float* line) noexcept {
  over_row<lanes, 4>(row, [&](auto blocks, std::size_t i, auto part) {
    Floats sum[blocks()];
    for (std::size_t b = 0; b < blocks(); ++b)
      sum[b] = weights[0] * load(rows + i + b * lanes, part);
    for (std::size_t k = 1; k < taps; ++k)
      for (std::size_t b = 0; b < blocks(); ++b)
        sum[b] += weights[k] * load(rows + k * row + i + b * lanes, part);
    for (std::size_t b = 0; b < blocks(); ++b) store(line + i + b * lanes, sum[b], part);
  });
}

/// Four neighbouring outputs of a grey image: the sums over 2 or 4 taps each.
template <std::size_t Taps>
[[gnu::always_inline]] inline Pixel four_greys(const float* line, const std::int32_t* first,
                                               const float* weights) noexcept {
  if constexpr (Taps == 4) {
    Pixel products[4];
    for (std::size_t i = 0; i < 4; ++i)
      products[i] = load_pixel(line + first[i]) * load_pixel(weights + 4 * i);
    // A transposition with the additions in between.
    const auto halves = [](Pixel a, Pixel b) {
      return __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    };
    const Pixel low = halves(products[0], products[1]);
    const Pixel high = halves(products[2], products[3]);
    return __builtin_shufflevector(low, high, 0, 1, 4, 5) +
           __builtin_shufflevector(low, high, 2, 3, 6, 7);
  } else {
    Pixel pairs[2];
    for (std::size_t i = 0; i < 4; ++i)
      std::memcpy(reinterpret_cast<char*>(pairs) + 8 * i, line + first[i], 2 * sizeof(float));
    const Pixel low = pairs[0] * load_pixel(weights);
    const Pixel high = pairs[1] * load_pixel(weights + 4);
    return __builtin_shufflevector(low, high, 0, 2, 4, 6) +
           __builtin_shufflevector(low, high, 1, 3, 5, 7);
  }
}

/// `Taps` is the number of taps, or 0 where it is known at run time only.
template <std::size_t Taps, std::size_t Channels, class T>
inline void combine_across(const image::Sampling& axis, const float* line, T* to,
                           std::size_t width) noexcept {
  const std::size_t taps = Taps > 0 ? Taps : static_cast<std::size_t>(axis.taps);
  const float* const weights = axis.weights.data();
  const std::int32_t* const first = axis.first.data();
  if constexpr (Channels == 1) {
    std::size_t x = 0;
    if constexpr (Taps > 0)
      for (; x + 4 <= width; x += 4)
        store_pixel(to + x, four_greys<Taps>(line, first + x, weights + x * Taps));
    for (; x < width; ++x) {
      float sum = 0;
      for (std::size_t k = 0; k < taps; ++k)
        sum += weights[x * taps + k] * line[static_cast<std::size_t>(first[x]) + k];
      store_one(to[x], sum);
    }
  } else {
    const auto pixel_at = [&](std::size_t x) {
      const float* const from = line + static_cast<std::size_t>(first[x]) * Channels;
      Pixel sum = weights[x * taps] * load_pixel(from);
      for (std::size_t k = 1; k < taps; ++k)
        sum += weights[x * taps + k] * load_pixel(from + k * Channels);
      return sum;
    };
    // Of three channels every store spills one element into the next pixel; the last must not.
    for (std::size_t x = 0; x + 1 < width; ++x) store_pixel(to + x * Channels, pixel_at(x));
    T last[4];
    store_pixel(last, pixel_at(width - 1));
    std::memcpy(static_cast<void*>(to + (width - 1) * Channels), last, Channels * sizeof(T));
  }
}

template <std::size_t Channels, class T>
inline void combine_across(const image::Sampling& axis, const float* line, T* to,
                           std::size_t width) noexcept {
  if (axis.taps == 2) return combine_across<2, Channels>(axis, line, to, width);
  if (axis.taps == 4) return combine_across<4, Channels>(axis, line, to, width);
  combine_across<0, Channels>(axis, line, to, width);
}

}  // namespace stoker::kernels::resize::STOKER_ISA
