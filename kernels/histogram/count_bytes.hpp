// Counting bytes by their value, for the CPU versions of histogram and equalize.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::kernels::histogram::STOKER_ISA {

/// Counters of one channel: two tables of 256, which take pixels in turn, so that equal neighbours do not
/// wait for each other.
inline constexpr std::size_t byte_counters = 512;

/// Adds the pixels to the byte_counters of each channel.
template <std::size_t Channels>
void count_bytes(const std::uint8_t* from, std::size_t pixels, std::uint32_t* counters) noexcept {
  std::size_t i = 0;
  for (; i + 2 <= pixels; i += 2)
    for (std::size_t c = 0; c < Channels; ++c) {
      ++counters[byte_counters * c + from[Channels * i + c]];
      ++counters[byte_counters * c + 256 + from[Channels * (i + 1) + c]];
    }
  for (; i < pixels; ++i)
    for (std::size_t c = 0; c < Channels; ++c)
      ++counters[byte_counters * c + from[Channels * i + c]];
}

}  // namespace stoker::kernels::histogram::STOKER_ISA
