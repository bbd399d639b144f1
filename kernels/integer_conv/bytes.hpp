// Transposed copies of bytes: from channels that are planes to channels that are neighbours.
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
    for (int i = 0; i < 8; ++i) {
      mixed[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                             20, 5, 21, 6, 22, 7, 23);
      mixed[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27,
                                                 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::copy_n(mixed, 16, rows);
  }
}

/// to[j · to_step + i] = from[i · from_step + j] ^ flip for i < rows, j < columns.
inline void transpose_bytes(const std::uint8_t* from, std::int64_t from_step, std::int64_t rows,
                            std::int64_t columns, std::uint8_t flip, std::uint8_t* to,
                            std::int64_t to_step) noexcept {
  const Sixteen flips = Sixteen{} + flip;
  for (std::int64_t i = 0; i < rows; i += 16)
    for (std::int64_t j = 0; j < columns; j += 16) {
      const std::int64_t high = std::min<std::int64_t>(16, rows - i);
      const std::int64_t wide = std::min<std::int64_t>(16, columns - j);
      Sixteen block[16] = {};
      if (high == 16 && wide == 16) {
        for (int r = 0; r < 16; ++r) std::memcpy(&block[r], from + (i + r) * from_step + j, 16);
      } else {
        for (std::int64_t r = 0; r < high; ++r)
          std::memcpy(&block[r], from + (i + r) * from_step + j, static_cast<std::size_t>(wide));
      }
      transpose_16x16(block);
      for (Sixteen& row : block) row ^= flips;
      if (high == 16 && wide == 16) {
        for (int r = 0; r < 16; ++r) std::memcpy(to + (j + r) * to_step + i, &block[r], 16);
      } else {
        for (std::int64_t r = 0; r < wide; ++r)
          std::memcpy(to + (j + r) * to_step + i, &block[r], static_cast<std::size_t>(high));
      }
    }
}

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
