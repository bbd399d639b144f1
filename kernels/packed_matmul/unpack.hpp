// Packed weights become floats, a piece of a column at a time.
//
// Numbers are unpacked as they lie: `lanes` bytes hold 8/bits numbers each, and the first of all bytes, then the second
// of all, … are a vector. So a row of A is put into that order once (arrange()), and nothing is turned afterwards.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/packed_matmul/problem.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace stoker::kernels::packed_matmul::STOKER_ISA {

#if defined(__AVX512F__)
inline constexpr int native_lanes = 16;
#elif defined(__AVX2__)
inline constexpr int native_lanes = 8;
#else
inline constexpr int native_lanes = 4;
#endif

/// Vectors of so many numbers, and so many bytes as whole numbers.
template <int lanes> struct Vectors;
template <> struct Vectors<4> {
  typedef float Floats __attribute__((vector_size(16)));
  typedef float Unaligned __attribute__((vector_size(16), aligned(4), may_alias));
  typedef std::int32_t Whole __attribute__((vector_size(16)));
  [[nodiscard]] static Whole widened(const std::uint8_t* bytes) noexcept {
    return Whole{bytes[0], bytes[1], bytes[2], bytes[3]};
  }
};
#if defined(__AVX2__)
template <> struct Vectors<8> {
  typedef float Floats __attribute__((vector_size(32)));
  typedef float Unaligned __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::int32_t Whole __attribute__((vector_size(32)));
  [[nodiscard]] static Whole widened(const std::uint8_t* bytes) noexcept {
    return std::bit_cast<Whole>(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
  }
};
#endif
#if defined(__AVX512F__)
template <> struct Vectors<16> {
  typedef float Floats __attribute__((vector_size(64)));
  typedef float Unaligned __attribute__((vector_size(64), aligned(4), may_alias));
  typedef std::int32_t Whole __attribute__((vector_size(64)));
  [[nodiscard]] static Whole widened(const std::uint8_t* bytes) noexcept {
    return std::bit_cast<Whole>(_mm512_maskz_cvtepu8_epi32(
        0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))));
  }
};
#endif

/// Neighbours in a column that are unpacked together: whole vectors, and a part of one block.
template <int bits_, int numbers_> struct Piece {
  static constexpr int bits = bits_, numbers = numbers_, bytes = numbers * bits / 8;
  static constexpr int lanes = std::min(native_lanes, bytes), vectors = numbers / lanes;
  static constexpr int phases = 8 / bits;  ///< vectors that the same bytes hold
  using V = Vectors<lanes>;
  using Floats = typename V::Floats;

  [[nodiscard]] static Floats load(const float* from) noexcept {
    return *reinterpret_cast<const typename V::Unaligned*>(from);
  }
  static void store(const Floats& floats, float* to) noexcept {
    *reinterpret_cast<typename V::Unaligned*>(to) = floats;
  }

  /// Calls use(v, numbers as floats) for each of its vectors.
  template <class Use> static void unpack(const std::uint8_t* from, const Use& use) noexcept {
    constexpr int mask = (1 << bits) - 1;
#pragma GCC unroll 8
    for (int chunk = 0; chunk < vectors / phases; ++chunk) {
      const typename V::Whole whole = V::widened(from + chunk * lanes);
#pragma GCC unroll 4
      for (int phase = 0; phase < phases; ++phase) {
        const typename V::Whole shifted = phase == 0 ? whole : whole >> (phase * bits);
        const typename V::Whole one = phase + 1 == phases ? shifted : shifted & mask;
        use(chunk * phases + phase, __builtin_convertvector(one, Floats));
      }
    }
  }

  /// Its elements of a row of A, in the order of unpacked numbers.
  static void arrange(const float* from, float* to) noexcept {
    for (int chunk = 0; chunk < vectors / phases; ++chunk)
      for (int phase = 0; phase < phases; ++phase)
        for (int lane = 0; lane < lanes; ++lane)
          to[(chunk * phases + phase) * lanes + lane] =
              from[(chunk * lanes + lane) * phases + phase];
  }
};

/// `count` elements of a row of A in the order in which numbers are unpacked, filled up with zeros to `padded`, which
/// are whole pieces.
template <class P, class S>
inline void arrange(const S* from, std::int64_t count, std::int64_t padded, float* to) noexcept {
  constexpr std::int64_t stretch = 256;
  alignas(64) float buffer[stretch];
  for (std::int64_t t = 0; t < padded; t += stretch) {
    const std::int64_t here = std::min(stretch, padded - t);
    const std::int64_t given = std::clamp<std::int64_t>(count - t, 0, here);
    const float* x =
        cpu::STOKER_ISA::loaded(from + std::min(t, count), buffer, static_cast<std::size_t>(given));
    if (given < here) {
      if (x != buffer) std::copy_n(x, given, buffer);
      std::fill(buffer + given, buffer + here, 0.0F);
      x = buffer;
    }
    for (std::int64_t i = 0; i < here; i += P::numbers) P::arrange(x + i, to + t + i);
  }
}

/// Where a walk along the pieces of a column stands.
class Place {
 public:
  Place(std::int64_t piece, std::int64_t pieces_of_block) noexcept
      : of_block_{pieces_of_block},
        block_{piece / pieces_of_block},
        left_{pieces_of_block - piece % pieces_of_block} {}
  [[nodiscard]] std::int64_t block() const noexcept { return block_; }
  void next() noexcept {
    if (--left_ > 0) return;
    ++block_;
    left_ = of_block_;
  }

 private:
  std::int64_t of_block_;
  std::int64_t block_;
  std::int64_t left_;
};

}  // namespace stoker::kernels::packed_matmul::STOKER_ISA
