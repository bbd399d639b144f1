// How to fill memory with a repeated element, given what vkCmdFillBuffer can do: whole 32-bit words
// at multiples of four. Pure logic.
//
//     | head |        words        | tail |      elements of 1, 2 or 4 bytes: the ragged ends (each
//     copied     vkCmdFillBuffer    copied       under 4 bytes) are copied from constants
//
//     | seed | doubled | doubled | repeated |    elements of 8 bytes: a first piece is copied from
//                                                constants, then copies of what is there already
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker::device::vulkan {

struct FillPlan {
  std::uint64_t head = 0;   ///< bytes before the words
  std::uint64_t words = 0;  ///< bytes filled with `word`, a multiple of 4
  std::uint64_t tail = 0;   ///< bytes after them
  std::uint32_t word = 0;
  bool by_doubling = false;  ///< no word repeats: copy instead
};

/// `pattern` is the element, 1, 2, 4 or 8 bytes; the range begins with its first byte.
[[nodiscard]] FillPlan plan_fill(std::span<const std::byte> pattern, std::uint64_t offset,
                                 std::uint64_t bytes) noexcept;

/// Writes the repeated element to `out`, beginning `phase` bytes into it.
void repeat_pattern(std::span<const std::byte> pattern, std::uint64_t phase,
                    std::span<std::byte> out) noexcept;

/// First piece of a fill by doubling, and the size from which pieces no longer double.
inline constexpr std::uint64_t fill_seed_bytes = 4096;
inline constexpr std::uint64_t fill_piece_bytes = 1024 * 1024;

}  // namespace stoker::device::vulkan
