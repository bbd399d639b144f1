// Packed weights become floats, some numbers at a time, and are multiplied as they come.
//
// Numbers are unpacked as they lie: `lanes` bytes hold 8/bits numbers each, and the first of all bytes, then the second
// of all, … are a vector. So a row of A is put into that order once (arrange()), and nothing is turned afterwards.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "stoker/kernels/packed_matmul/problem.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace stoker::kernels::packed_matmul::STOKER_ISA {

/// Bytes that are unpacked at a time: those of a vector of floats, or fewer where a block has fewer.
[[nodiscard]] inline std::int64_t lanes_of(const Problem& p) noexcept {
#if defined(__AVX512F__)
  std::int64_t lanes = 16;
#elif defined(__AVX2__)
  std::int64_t lanes = 8;
#else
  std::int64_t lanes = 4;
#endif
  while (p.block_bytes() % lanes != 0) lanes /= 2;
  return lanes;
}

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
    typedef std::uint8_t Bytes __attribute__((vector_size(16)));
    Bytes loaded;
    std::memcpy(&loaded, bytes, sizeof loaded);
    return __builtin_convertvector(loaded, Whole);
  }
};
#endif

/// `k` elements of a row of A in the order in which numbers are unpacked, filled up with zeros to `padded`, a multiple
/// of what `lanes` bytes hold.
inline void arrange(std::int64_t bits, std::int64_t lanes, const float* from, std::int64_t k,
                    std::int64_t padded, float* to) noexcept {
  const std::int64_t in_byte = 8 / bits, chunk = lanes * in_byte;
  for (std::int64_t first = 0; first < padded; first += chunk, to += chunk)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t phase = 0; phase < in_byte; ++phase) {
        const std::int64_t t = first + lane * in_byte + phase;
        to[phase * lanes + lane] = t < k ? from[t] : 0.0F;
      }
}

/// A number stands for number · factor + offset.
struct Scaling {
  const float* factors;  ///< of the blocks of a column
  const float* offsets;
};

/// Calls use(floats, at) for each vector of a column, at = its place in an arranged row.
template <int lanes, int bits, class Use>
inline void unpack(const Problem& p, const std::uint8_t* column, const Scaling& scaling,
                   const Use& use) noexcept {
  using V = Vectors<lanes>;
  constexpr int mask = (1 << bits) - 1;
  const std::int64_t blocks = p.blocks(), in_block = p.block_bytes();
  std::int64_t at = 0;
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t byte = 0; byte < in_block; byte += lanes, column += lanes) {
      const typename V::Whole numbers = V::widened(column);
#pragma GCC unroll 4
      for (int phase = 0; phase < 8 / bits; ++phase, at += lanes) {
        const auto floats =
            __builtin_convertvector((numbers >> (phase * bits)) & mask, typename V::Floats);
        use(floats * scaling.factors[block] + scaling.offsets[block], at);
      }
    }
}

/// Rows of A, arranged, one after the other, and where their results go.
struct Rows {
  const float* a;
  float* c;
  std::int64_t c_step;
};

/// c[r · c_step + j] = row r of A times column j, for `rows` × `columns` of them. The columns pass by together, so
/// that additions need not wait for one another.
template <int lanes, int bits, int rows, int columns>
inline void dots(const Problem& p, const Rows& of, const std::uint8_t* b,
                 const Scaling (&scaling)[columns]) noexcept {
  using V = Vectors<lanes>;
  using Floats = typename V::Floats;
  constexpr int mask = (1 << bits) - 1;
  /// As many roundings lie on each other.
  constexpr std::int64_t chain = 256;
  const std::int64_t depth = p.padded_k(), in_block = p.block_bytes(), step = p.column_bytes();
  Floats sum[columns][rows] = {}, chained[columns][rows] = {};
  std::int64_t at = 0, byte = 0, links = 0;
  for (std::int64_t block = 0; block < p.blocks(); ++block)
    for (const std::int64_t end = byte + in_block; byte < end; byte += lanes) {
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) {
        const typename V::Whole numbers = V::widened(b + j * step + byte);
        const float factor = scaling[j].factors[block], offset = scaling[j].offsets[block];
#pragma GCC unroll 4
        for (int phase = 0; phase < 8 / bits; ++phase) {
          const Floats weights =
              __builtin_convertvector((numbers >> (phase * bits)) & mask, Floats) * factor + offset;
          const float* const a = of.a + at + std::int64_t{phase} * lanes;
#pragma GCC unroll 4
          for (int r = 0; r < rows; ++r)
            chained[j][r] +=
                weights * *reinterpret_cast<const typename V::Unaligned*>(a + r * depth);
        }
      }
      at += std::int64_t{lanes} * (8 / bits);
      if (++links % chain != 0) continue;
      for (int j = 0; j < columns; ++j)
        for (int r = 0; r < rows; ++r) {
          sum[j][r] += chained[j][r];
          chained[j][r] = Floats{};
        }
    }
  for (int j = 0; j < columns; ++j)
    for (int r = 0; r < rows; ++r) {
      const Floats whole = sum[j][r] + chained[j][r];
      float result = 0;
      for (int lane = 0; lane < lanes; ++lane) result += whole[lane];
      of.c[r * of.c_step + j] = result;
    }
}

}  // namespace stoker::kernels::packed_matmul::STOKER_ISA
