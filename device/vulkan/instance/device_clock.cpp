#include "stoker/device/vulkan/instance/device_clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace stoker::device::vulkan {
namespace {

constexpr std::uint64_t recalibrate_after_ns = 1'000'000'000;

bool can_calibrate(const DeviceHandle& device) {
  const VulkanApi& api = device.api();
  if (!device.physical().has_extension(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
      !api.vkGetCalibratedTimestampsEXT || !api.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)
    return false;
  std::array<VkTimeDomainEXT, 8> domains{};
  auto count = static_cast<std::uint32_t>(domains.size());
  if (api.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(device.physical().handle, &count,
                                                         domains.data()) < 0)
    return false;
  const auto has = [&](VkTimeDomainEXT domain) {
    return std::find(domains.begin(), domains.begin() + count, domain) != domains.begin() + count;
  };
  // libstdc++'s and libc++'s steady clock is CLOCK_MONOTONIC.
  return has(VK_TIME_DOMAIN_DEVICE_EXT) && has(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
}

std::uint64_t mask_of(std::uint32_t valid_bits) noexcept {
  return valid_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits) - 1;
}

}  // namespace

std::uint64_t steady_now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds{1});
}

DeviceClock::DeviceClock(const DeviceHandle& device) noexcept
    : device_{device},
      period_ns_{device.physical().properties.limits.timestampPeriod},
      calibrated_{can_calibrate(device)} {}

bool DeviceClock::read_both(std::uint64_t& ticks, std::uint64_t& host_ns) const noexcept {
  if (!calibrated_) return false;
  const std::array<VkCalibratedTimestampInfoEXT, 2> clocks{{
      {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_DEVICE_EXT},
      {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr,
       VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT},
  }};
  std::array<std::uint64_t, 2> values{};
  std::uint64_t deviation = 0;
  if (device_.api().vkGetCalibratedTimestampsEXT(device_.handle(), 2, clocks.data(), values.data(),
                                                 &deviation) < 0)
    return false;
  ticks = values[0];
  host_ns = values[1];
  return true;
}

void DeviceClock::observe(std::uint64_t ticks, std::uint32_t valid_bits) noexcept {
  const std::scoped_lock lock{mutex_};
  const std::uint64_t now = steady_now_ns();
  if (calibrated_) {
    if (anchored_ && now - anchor_host_ns_ < recalibrate_after_ns) return;
    if (read_both(anchor_ticks_, anchor_host_ns_)) {
      anchored_ = true;
      return;
    }
  }
  const bool closer = !anchored_ || static_cast<std::int64_t>(now - anchor_host_ns_) <
                                        signed_ns(anchor_ticks_, ticks, valid_bits);
  if (!closer) return;
  anchored_ = true;
  anchor_ticks_ = ticks;
  anchor_host_ns_ = now;
}

std::uint64_t DeviceClock::to_host_ns(std::uint64_t ticks,
                                      std::uint32_t valid_bits) const noexcept {
  const std::scoped_lock lock{mutex_};
  return anchor_host_ns_ + static_cast<std::uint64_t>(signed_ns(anchor_ticks_, ticks, valid_bits));
}

std::uint64_t DeviceClock::elapsed_ns(std::uint64_t from, std::uint64_t to,
                                      std::uint32_t valid_bits) const noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, signed_ns(from, to, valid_bits)));
}

std::int64_t DeviceClock::signed_ns(std::uint64_t from, std::uint64_t to,
                                    std::uint32_t valid_bits) const noexcept {
  // Counters wrap at valid_bits: the shorter way round is the right one.
  const std::uint64_t mask = mask_of(valid_bits);
  const std::uint64_t ahead = (to - from) & mask;
  const std::uint64_t behind = (from - to) & mask;
  return ahead <= behind ? static_cast<std::int64_t>(static_cast<double>(ahead) * period_ns_)
                         : -static_cast<std::int64_t>(static_cast<double>(behind) * period_ns_);
}

}  // namespace stoker::device::vulkan
