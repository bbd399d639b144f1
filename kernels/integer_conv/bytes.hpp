// Bytes in another order: transposed copies, from channels that are planes to channels that are neighbours; and sums of
// weights in blocks.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace stoker::kernels::integer_conv::STOKER_ISA {

typedef std::uint8_t Sixteen __attribute__((vector_size(16)));

/// Transposes 16 × 16 bytes: four times the halves are shuffled into one another.
inline void transpose_16x16(Sixteen (&rows)[16]) noexcept {
  Sixteen mixed[16];
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < 8; ++i) {
      mixed[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                             20, 5, 21, 6, 22, 7, 23);
      mixed[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27,
                                                 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::copy_n(mixed, 16, rows);
  }
}

/// One block of at most 16 × 16 of transpose_bytes().
inline void transpose_block(const std::uint8_t* from, std::int64_t from_step, std::int64_t rows,
                            std::int64_t columns, const Sixteen& flips, std::uint8_t* to,
                            std::int64_t to_step) noexcept {
  Sixteen block[16] = {};
  const bool is_whole = rows == 16 && columns == 16;
  if (is_whole)
    for (int r = 0; r < 16; ++r) std::memcpy(&block[r], from + r * from_step, 16);
  else
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(&block[r], from + r * from_step, static_cast<std::size_t>(columns));
  transpose_16x16(block);
  for (Sixteen& row : block) row ^= flips;
  if (is_whole)
    for (int r = 0; r < 16; ++r) std::memcpy(to + r * to_step, &block[r], 16);
  else
    for (std::int64_t r = 0; r < columns; ++r)
      std::memcpy(to + r * to_step, &block[r], static_cast<std::size_t>(rows));
}

/// to[j · to_step + i] = from[i · from_step + j] ^ flip for i < rows, j < columns.
inline void transpose_bytes(const std::uint8_t* from, std::int64_t from_step, std::int64_t rows,
                            std::int64_t columns, std::uint8_t flip, std::uint8_t* to,
                            std::int64_t to_step) noexcept {
  const Sixteen flips = Sixteen{} + flip;
  // A cache line of each row at a time: what is written meanwhile stays in the first-level cache.
  constexpr std::int64_t line = 64;
  for (std::int64_t j0 = 0; j0 < columns; j0 += line)
    for (std::int64_t i = 0; i < rows; i += 16)
      for (std::int64_t j = j0; j < std::min(columns, j0 + line); j += 16)
        transpose_block(from + i * from_step + j, from_step, std::min<std::int64_t>(16, rows - i),
                        std::min<std::int64_t>(16, columns - j), flips, to + j * to_step + i,
                        to_step);
}

/// sums[o] += all s8 numbers from[64 · i + 4 · o + c] ^ flip for i < lines, c < 4, for o < 16.
inline void sum_fours(const std::uint8_t* from, std::int64_t lines, std::uint8_t flip,
                      std::uint32_t* sums) noexcept {
  typedef std::int16_t Pairs __attribute__((vector_size(64)));
  const Pairs flips = Pairs{} + static_cast<std::int16_t>(flip * 0x101);
  // So many sums of two bytes fit into 16 bits.
  constexpr std::int64_t most = 127;
  for (std::int64_t begin = 0; begin < lines; begin += most) {
    Pairs sum{};
    const std::int64_t end = std::min(lines, begin + most);
    for (std::int64_t i = begin; i < end; ++i) {
      Pairs line;
      std::memcpy(&line, from + 64 * i, sizeof line);
      line ^= flips;
      sum += ((line << 8) >> 8) + (line >> 8);
    }
    for (int o = 0; o < 16; ++o) sums[o] += static_cast<std::uint32_t>(sum[2 * o] + sum[2 * o + 1]);
  }
}

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
