// Bilinear resampling of u8 rows in 16-bit fixed point with 7 fraction bits: between two values lie
// a + (b - a) f with f in 1/32768, one rounded multiplication. Twice as many values fit a register as
// with floats, and the result is at most 1/50 of a level off. The vector code needs AVX2; without it
// the loops for what is left of a row do all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/sampling.hpp"

namespace stoker::kernels::resize::STOKER_ISA {

using namespace image::STOKER_ISA;

/// One axis with two taps: where each output's first one lies, in elements, and the second's share.
struct Lerp {
  std::vector<std::int32_t> offset;
  std::vector<std::int16_t> share;  // in 1/32768
  /// For grey rows that shrink to no less than half: each offset from that of its group of 32
  /// outputs. Else empty.
  std::vector<std::uint16_t> in_group;

  static constexpr std::size_t group = 32;
  static constexpr std::size_t window = 64;  // elements that a group may span

  /// Precondition: axis.taps is 2. Four entries more than outputs, as they are read by fours.
  Lerp(const image::Sampling& axis, std::size_t elements) {
    for (std::size_t i = 0; i < axis.first.size(); ++i) {
      offset.push_back(axis.first[i] * static_cast<std::int32_t>(elements));
      share.push_back(
          static_cast<std::int16_t>(std::min(axis.weights[2 * i + 1] * 32768.0F + 0.5F, 32767.0F)));
    }
    for (std::size_t i = 0; i < offset.size(); ++i) {
      const auto distance = static_cast<std::size_t>(offset[i] - offset[i / group * group]);
      if (distance + 1 >= window) {
        in_group.clear();
        break;
      }
      in_group.push_back(static_cast<std::uint16_t>(distance));
    }
    offset.resize(offset.size() + 4);
    share.resize(share.size() + 4);
  }
};

[[gnu::always_inline]] inline int between(int a, int b, int share) noexcept {
  return a + (((b - a) * share + (1 << 14)) >> 15);
}

/// line = above + (below - above) share.
inline void lerp_down(const std::uint8_t* above, const std::uint8_t* below, std::int16_t share,
                      std::size_t row, std::uint16_t* line) noexcept {
#if defined(__AVX2__)
  over_row<word_lanes, 2>(row, [&](auto blocks, std::size_t start, auto part) {
    for (std::size_t i = start; i < start + blocks() * word_lanes; i += word_lanes) {
      const Words a = load_words(above + i, part) << 7;
      const Words b = load_words(below + i, part) << 7;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
      const auto step =
          _mm512_mulhrs_epi16(std::bit_cast<__m512i>(b - a), _mm512_set1_epi16(share));
#else
      const auto step = _mm256_mulhrs_epi16(std::bit_cast<__m256i>(b - a), _mm256_set1_epi16(share));
#endif
      store_raw(line + i, a + std::bit_cast<Words>(step), part);
    }
  });
#else
  for (std::size_t i = 0; i < row; ++i)
    line[i] = static_cast<std::uint16_t>(between(above[i] << 7, below[i] << 7, share));
#endif
}

#if defined(__AVX2__)
/// The pixels at four offsets into the line, four words each.
[[gnu::always_inline]] inline __m256i four_pixels(const std::uint16_t* line,
                                                  const std::int32_t* offset) noexcept {
  const auto pixel = [&](std::size_t i) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(line + offset[i]));
  };
  return _mm256_set_m128i(_mm_unpacklo_epi64(pixel(2), pixel(3)),
                          _mm_unpacklo_epi64(pixel(0), pixel(1)));
}

#endif

/// Three or four channels. Reads up to one word past the line's last element.
template <std::size_t Channels>
inline void lerp_across(const Lerp& axis, const std::uint16_t* line, std::uint8_t* to,
                        std::size_t width) noexcept {
  std::size_t x = 0;
#if defined(__AVX2__)
  // The share of each of four pixels, in all of its words.
  const __m256i spread = _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3,  //
                                          4, 5, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 6, 7);
  const __m256i drop_fourth =
      _mm256_setr_epi8(0, 1, 2, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                       0, 1, 2, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  // Of three channels, stores spill two bytes into the next pixel: there must be one.
  for (; x + 4 < width; x += 4) {
    const __m256i left = four_pixels(line, axis.offset.data() + x);
    const __m256i right = four_pixels(line + Channels, axis.offset.data() + x);
    std::int64_t four_shares;
    std::memcpy(&four_shares, axis.share.data() + x, sizeof four_shares);
    const __m256i share = _mm256_shuffle_epi8(_mm256_set1_epi64x(four_shares), spread);
    const __m256i fixed =
        _mm256_add_epi16(left, _mm256_mulhrs_epi16(_mm256_sub_epi16(right, left), share));
    const __m256i whole = _mm256_srli_epi16(_mm256_add_epi16(fixed, _mm256_set1_epi16(64)), 7);
    __m256i bytes = _mm256_packus_epi16(whole, whole);
    if constexpr (Channels == 3) bytes = _mm256_shuffle_epi8(bytes, drop_fourth);
    std::uint8_t* const target = to + x * Channels;
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target), _mm256_castsi256_si128(bytes));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(target + 2 * Channels),
                     _mm256_extracti128_si256(bytes, 1));
  }
#endif
  for (; x < width; ++x) {
    const std::uint16_t* const from = line + axis.offset[x];
    for (std::size_t c = 0; c < Channels; ++c)
      to[x * Channels + c] = static_cast<std::uint8_t>(
          (between(from[c], from[c + Channels], axis.share[x]) + 64) >> 7);
  }
}

/// One channel. The neighbouring taps of 32 outputs lie within 64 elements if the row shrinks to no
/// less than half: two registers, of which AVX-512 picks any 32. Else one 32-bit access finds both
/// taps of an output. Reads up to 64 words past the line's last element.
template <>
inline void lerp_across<1>(const Lerp& axis, const std::uint16_t* line, std::uint8_t* to,
                           std::size_t width) noexcept {
  std::size_t x = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if (!axis.in_group.empty()) {
    for (; x + Lerp::group <= width; x += Lerp::group) {
      const std::uint16_t* const from = line + axis.offset[x];
      const __m512i low = _mm512_loadu_si512(from);
      const __m512i high = _mm512_loadu_si512(from + 32);
      const __m512i at = _mm512_loadu_si512(axis.in_group.data() + x);
      const __m512i next = _mm512_add_epi16(at, _mm512_set1_epi16(1));
      const __m512i left = _mm512_permutex2var_epi16(low, at, high);
      const __m512i right = _mm512_permutex2var_epi16(low, next, high);
      const __m512i share = _mm512_loadu_si512(axis.share.data() + x);
      const __m512i fixed =
          _mm512_add_epi16(left, _mm512_mulhrs_epi16(_mm512_sub_epi16(right, left), share));
      store_words(to + x,
                  std::bit_cast<Words>(
                      _mm512_srli_epi16(_mm512_add_epi16(fixed, _mm512_set1_epi16(64)), 7)),
                  Full{});
    }
  }
#endif
#if defined(__AVX2__)
  for (; x + 8 <= width; x += 8) {
    const __m256i offset =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(axis.offset.data() + x));
    const __m256i pairs = _mm256_i32gather_epi32(reinterpret_cast<const int*>(line), offset, 2);
    const __m256i share = _mm256_cvtepi16_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(axis.share.data() + x)));
    const __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32(32767), share);
    const __m256i weights = _mm256_or_si256(_mm256_slli_epi32(share, 16), rest);
    const __m256i sum =
        _mm256_add_epi32(_mm256_madd_epi16(pairs, weights), _mm256_set1_epi32(1 << 21));
    const __m256i whole = _mm256_srli_epi32(sum, 22);
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + x), _mm_packus_epi16(words, words));
  }
#endif
  for (; x < width; ++x) {
    const std::uint16_t* const from = line + axis.offset[x];
    to[x] = static_cast<std::uint8_t>((between(from[0], from[1], axis.share[x]) + 64) >> 7);
  }
}

}  // namespace stoker::kernels::resize::STOKER_ISA
