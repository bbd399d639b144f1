// The device's timestamps on the host's steady clock.
//
// With VK_EXT_calibrated_timestamps both clocks are read together, again whenever the last reading
// is a second old (they drift). Without it, the closest pair seen so far is kept: a timestamp
// cannot be later than the moment the host saw its submission complete.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>

#include "stoker/device/vulkan/instance/device_handle.hpp"

namespace stoker::device::vulkan {

/// Nanoseconds since the epoch of std::chrono::steady_clock.
[[nodiscard]] std::uint64_t steady_now_ns() noexcept;

class DeviceClock {
 public:
  explicit DeviceClock(const DeviceHandle& device) noexcept;

  /// Call when a submission whose last timestamp is `ticks` was seen complete, before convert().
  void observe(std::uint64_t ticks, std::uint32_t valid_bits) noexcept;
  [[nodiscard]] std::uint64_t to_host_ns(std::uint64_t ticks,
                                         std::uint32_t valid_bits) const noexcept;
  /// Nanoseconds between two timestamps.
  [[nodiscard]] std::uint64_t elapsed_ns(std::uint64_t from, std::uint64_t to,
                                         std::uint32_t valid_bits) const noexcept;

 private:
  [[nodiscard]] bool read_both(std::uint64_t& ticks, std::uint64_t& host_ns) const noexcept;
  [[nodiscard]] std::int64_t signed_ns(std::uint64_t from, std::uint64_t to,
                                       std::uint32_t valid_bits) const noexcept;

  const DeviceHandle& device_;
  const double period_ns_;
  const bool calibrated_;
  mutable std::mutex mutex_;
  bool anchored_ = false;
  std::uint64_t anchor_ticks_ = 0;
  std::uint64_t anchor_host_ns_ = 0;
};

}  // namespace stoker::device::vulkan
