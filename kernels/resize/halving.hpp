// u8 images of exactly twice the size on both axes: every output is the rounded mean of four values,
// which needs no multiplication and no table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/kernels/image/lanes.hpp"

namespace stoker::kernels::resize::STOKER_ISA {

using namespace image::STOKER_ISA;

/// Whether halve_across() beats resampling between pixels: it has vector code for AVX-512 only.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
inline constexpr bool halving_pays = true;
#else
inline constexpr bool halving_pays = false;
#endif

/// line = above + below.
inline void add_rows(const std::uint8_t* above, const std::uint8_t* below, std::size_t row,
                     std::uint16_t* line) noexcept {
  over_row<word_lanes, 2>(row, [&](auto blocks, std::size_t start, auto part) {
    for (std::size_t i = start; i < start + blocks() * word_lanes; i += word_lanes)
      store_raw(line + i, load_words(above + i, part) + load_words(below + i, part), part);
  });
}

/// Each pixel of `to` is the mean of two pixels of `line`, which holds sums of two values. Reads up
/// to 64 + `Channels` words past the line's last element.
template <std::size_t Channels>
inline void halve_across(const std::uint16_t* line, std::uint8_t* to, std::size_t width) noexcept {
  std::size_t x = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  // Sums of neighbouring pixels, from every pixel on; those from the even ones are picked.
  constexpr std::size_t together = 32 / Channels;
  constexpr auto picked = [] {
    std::array<std::uint16_t, 32> at{};
    for (std::size_t i = 0; i < together * Channels; ++i)
      at[i] = static_cast<std::uint16_t>(i / Channels * 2 * Channels + i % Channels);
    return at;
  }();
  const __m512i even = _mm512_loadu_si512(picked.data());
  // 32 bytes are stored, of three channels two more than belong to these pixels.
  for (; (width - x) * Channels >= 32; x += together) {
    const auto sums = [&](const std::uint16_t* from) {
      return _mm512_add_epi16(_mm512_loadu_si512(from), _mm512_loadu_si512(from + Channels));
    };
    const std::uint16_t* const from = line + 2 * x * Channels;
    const __m512i four = _mm512_permutex2var_epi16(sums(from), even, sums(from + 32));
    const __m512i mean = _mm512_srli_epi16(_mm512_add_epi16(four, _mm512_set1_epi16(2)), 2);
    store_words(to + x * Channels, std::bit_cast<Words>(mean), Full{});
  }
#endif
  for (; x < width; ++x)
    for (std::size_t c = 0; c < Channels; ++c) {
      const std::uint16_t* const from = line + 2 * x * Channels + c;
      to[x * Channels + c] = static_cast<std::uint8_t>((from[0] + from[Channels] + 2) >> 2);
    }
}

}  // namespace stoker::kernels::resize::STOKER_ISA
