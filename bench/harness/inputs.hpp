// Data for benchmarks.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/api/stoker.hpp"

namespace stoker::bench {

/// `count` numbers in [low, high), the same in every run. Real data: zeros can be faster.
[[nodiscard]] inline std::vector<float> noise(std::size_t count, float low = -1, float high = 1) {
  std::vector<float> values(count);
  std::uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = low + (high - low) * static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U);
  }
  return values;
}

/// A buffer of noise, filled and at rest.
[[nodiscard]] inline Buffer noise_buffer(const Device& device, const Shape& shape, float low = -1,
                                         float high = 1) {
  Buffer made = device.buffer(DType::f32, shape);
  made.write(noise(made.elements(), low, high)).get();
  return made;
}

/// Submits the same call `count` times and waits for the last: seconds a call.
template <class Submit> [[nodiscard]] double seconds_per_command(int count, Submit&& submit) {
  const auto start = std::chrono::steady_clock::now();
  Command last;
  for (int i = 0; i < count; ++i) last = submit();
  last.get();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
}

}  // namespace stoker::bench
