// Which device features Stoker wants, which it cannot do without, and what SPIR-V code needs.
//
// What is requested of a device is always "supported and wanted", never more: asking for an absent
// feature makes device creation fail. What a shader needs is read from its own OpCapability lines,
// so a check can neither miss a need nor invent one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/device/vulkan/instance/api.hpp"

namespace stoker::device::vulkan {

/// The feature structures, chained for vkGetPhysicalDeviceFeatures2 or vkCreateDevice. The chain
/// points into the object: neither copied nor moved.
class FeatureChain {
 public:
  FeatureChain() = default;
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  /// Chains what a device of this version with these extensions knows.
  void link(std::uint32_t api_version, std::span<const std::string> extensions);
  /// Keeps of `supported` what Stoker wants.
  void take_wanted(const FeatureChain& supported);
  /// The first required feature that is off, or null.
  [[nodiscard]] const char* missing() const noexcept;
  /// The features that are on, as Vulkan names them.
  [[nodiscard]] std::vector<std::string> names() const;

  VkPhysicalDeviceFeatures2 core =
      vk_struct<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features v11 = vk_struct<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features v12 = vk_struct<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceSynchronization2Features sync2 =
      vk_struct<VkPhysicalDeviceSynchronization2Features>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
  VkPhysicalDeviceMaintenance4Features maintenance4 =
      vk_struct<VkPhysicalDeviceMaintenance4Features>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES);
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroups =
      vk_struct<VkPhysicalDeviceSubgroupSizeControlFeatures>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  VkPhysicalDeviceFaultFeaturesEXT fault = vk_struct<VkPhysicalDeviceFaultFeaturesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT);
};

/// The device extensions Stoker uses where they are there. `core_since` is the Vulkan version that
/// made one part of the core (0: none did), after which it is not asked for.
struct WantedExtension {
  const char* name;
  std::uint32_t core_since;
};
[[nodiscard]] std::span<const WantedExtension> wanted_extensions() noexcept;

/// What of a device decides whether a shader runs on it.
struct ShaderSupport {
  std::vector<std::string> features;
  VkSubgroupFeatureFlags subgroup_operations = 0;
};

/// The name of the first thing `spirv` needs that the device lacks ("shaderFloat64",
/// "subgroup arithmetic", "capability 5290"), or empty. Text that is no SPIR-V gives "valid SPIR-V".
[[nodiscard]] std::string missing_for(std::span<const std::uint32_t> spirv,
                                      const ShaderSupport& support);

}  // namespace stoker::device::vulkan
