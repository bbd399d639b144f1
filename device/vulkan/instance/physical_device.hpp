// The Vulkan devices of this system as data: what each can do, and why Stoker takes it or not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/vulkan/instance/features.hpp"
#include "stoker/device/vulkan/instance/instance.hpp"

namespace stoker::device::vulkan {

inline constexpr std::uint32_t no_family = ~std::uint32_t{0};

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceDriverProperties driver = vk_struct<VkPhysicalDeviceDriverProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
  VkPhysicalDeviceMemoryProperties memory{};
  std::uint32_t api_version = 0;        ///< the lower of the device's and the instance's
  std::vector<std::string> extensions;  ///< those of wanted_extensions() that are there and needed
  ShaderSupport shaders;                ///< with the features that will be on
  std::uint32_t compute_family = no_family;
  std::uint32_t transfer_family = no_family;  ///< a family that only copies, if there is one
  std::uint32_t compute_timestamp_bits = 0;
  std::uint32_t transfer_timestamp_bits = 0;
  DeviceInfo info;       ///< name: "vulkan:<index>", set by enumerate_devices()
  std::string rejected;  ///< why it is not taken; empty: it is

  [[nodiscard]] bool has_extension(std::string_view name) const noexcept;
  [[nodiscard]] bool has_feature(std::string_view name) const noexcept;
  /// Whether threads can exchange values within subgroups that are certain to be full.
  [[nodiscard]] bool shuffles() const noexcept;
  /// How many rounds one thread may make in all its loops together before the driver ends them.
  [[nodiscard]] std::uint64_t most_rounds() const noexcept;
};

/// Every device the instance lists, in its order; accepted ones are numbered in that order.
[[nodiscard]] Result<std::vector<PhysicalDevice>> enumerate_devices(const Instance& instance);

/// The heap that kernels' memory lies in: the largest that is local to the device.
[[nodiscard]] std::uint32_t main_heap(const VkPhysicalDeviceMemoryProperties& memory) noexcept;

/// Memory types that suit `kind`, best first. Device memory that the host can map is preferred only
/// in the main heap: a separate mappable heap is a small window that larger buffers do not fit.
[[nodiscard]] std::vector<std::uint32_t> memory_types_for(
    const VkPhysicalDeviceMemoryProperties& memory, MemoryKind kind);

}  // namespace stoker::device::vulkan
