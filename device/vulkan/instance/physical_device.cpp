#include "stoker/device/vulkan/instance/physical_device.hpp"

#include <algorithm>
#include <string_view>

#include "stoker/device/vulkan/instance/enumerate.hpp"
#include "stoker/device/vulkan/instance/loader.hpp"

namespace stoker::device::vulkan {
namespace {

std::string hex(const std::uint8_t (&bytes)[VK_UUID_SIZE]) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

DeviceType type_of(VkPhysicalDeviceType type) noexcept {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return DeviceType::discrete_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return DeviceType::integrated_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return DeviceType::software_gpu;
    default: return DeviceType::virtual_gpu;
  }
}

std::vector<DType> dtypes_of(const PhysicalDevice& device) {
  const auto has = [&](const char* name) { return device.has_feature(name); };
  const bool bytes = has("storageBuffer8BitAccess") && has("shaderInt8");
  const bool halves = has("storageBuffer16BitAccess") && has("shaderInt16");
  std::vector<DType> dtypes{DType::f32, DType::s32, DType::u32};
  if (has("shaderFloat64")) dtypes.push_back(DType::f64);
  if (has("shaderInt64")) dtypes.insert(dtypes.end(), {DType::s64, DType::u64});
  if (has("storageBuffer16BitAccess") && has("shaderFloat16")) dtypes.push_back(DType::f16);
  if (halves) dtypes.insert(dtypes.end(), {DType::bf16, DType::s16, DType::u16});
  if (bytes) dtypes.insert(dtypes.end(), {DType::s8, DType::u8, DType::boolean});
  std::ranges::sort(dtypes);
  return dtypes;
}

/// The property structures Stoker reads, chained.
struct Properties {
  VkPhysicalDeviceProperties2 core =
      vk_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  VkPhysicalDeviceDriverProperties driver = vk_struct<VkPhysicalDeviceDriverProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
  VkPhysicalDeviceVulkan11Properties v11 = vk_struct<VkPhysicalDeviceVulkan11Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  VkPhysicalDeviceMaintenance4Properties maintenance4 =
      vk_struct<VkPhysicalDeviceMaintenance4Properties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia =
      vk_struct<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
  VkPhysicalDeviceShaderCorePropertiesAMD amd = vk_struct<VkPhysicalDeviceShaderCorePropertiesAMD>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD);

  void read(const VulkanApi& api, VkPhysicalDevice device,
            const std::vector<std::string>& extensions, bool has_maintenance4) {
    const auto append = [&](auto& part) {
      part.pNext = core.pNext;
      core.pNext = &part;
    };
    const auto has = [&](const char* name) {
      return std::ranges::find(extensions, name) != extensions.end();
    };
    append(driver);
    append(v11);
    if (has_maintenance4) append(maintenance4);
    if (has(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) append(nvidia);
    if (has(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) append(amd);
    api.vkGetPhysicalDeviceProperties2(device, &core);
  }
  [[nodiscard]] std::uint32_t compute_units() const noexcept {
    if (nvidia.shaderSMCount) return nvidia.shaderSMCount;
    return std::max(1U, amd.shaderEngineCount * amd.shaderArraysPerEngineCount *
                            amd.computeUnitsPerShaderArray);
  }
};

/// Prefers a compute family without graphics (NVIDIA's answers three times as fast) and, for copies,
/// one that can do nothing else.
void choose_families(const Instance& instance, PhysicalDevice& device) {
  std::uint32_t count = 0;
  instance.api().vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  instance.api().vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, families.data());
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    const bool graphics = flags & VK_QUEUE_GRAPHICS_BIT;
    if (families[i].queueCount == 0) continue;
    if ((flags & VK_QUEUE_COMPUTE_BIT) &&
        (device.compute_family == no_family ||
         (!graphics && (families[device.compute_family].queueFlags & VK_QUEUE_GRAPHICS_BIT)))) {
      device.compute_family = i;
      device.compute_timestamp_bits = families[i].timestampValidBits;
    }
    if ((flags & VK_QUEUE_TRANSFER_BIT) && !graphics && !(flags & VK_QUEUE_COMPUTE_BIT) &&
        device.transfer_family == no_family) {
      device.transfer_family = i;
      device.transfer_timestamp_bits = families[i].timestampValidBits;
    }
  }
}

DeviceInfo describe(const PhysicalDevice& device, const Properties& properties) {
  const VkPhysicalDeviceLimits& limits = device.properties.limits;
  DeviceInfo info;
  info.backend = "vulkan";
  info.description = device.properties.deviceName;
  info.type = type_of(device.properties.deviceType);
  info.driver = std::string{device.driver.driverName} + " " + device.driver.driverInfo;
  info.uuid = hex(properties.v11.deviceUUID);
  const VkMemoryHeap& heap = device.memory.memoryHeaps[main_heap(device.memory)];
  info.memory_bytes = heap.size;
  info.compute_units = properties.compute_units();
  info.limits.max_allocation = std::min(properties.v11.maxMemoryAllocationSize, heap.size);
  if (properties.maintenance4.maxBufferSize)
    info.limits.max_allocation =
        std::min(info.limits.max_allocation, properties.maintenance4.maxBufferSize);
  // maxStorageBufferRange bounds descriptors; buffers passed by address are as large as they are.
  info.limits.max_storage_range = info.limits.max_allocation;
  info.limits.max_groups =
      std::min({limits.maxComputeWorkGroupCount[0], limits.maxComputeWorkGroupCount[1],
                limits.maxComputeWorkGroupCount[2]});
  info.limits.max_push_bytes = limits.maxPushConstantsSize;
  info.limits.shared_bytes = limits.maxComputeSharedMemorySize;
  info.limits.subgroup_size = std::max(1U, properties.v11.subgroupSize);
  info.dtypes = dtypes_of(device);
  info.features = device.shaders.features;
  info.features.insert(info.features.end(), device.extensions.begin(), device.extensions.end());
  info.has_transfer_queue = device.transfer_family != no_family;
  const auto types = memory_types_for(device.memory, MemoryKind::device);
  info.unified_memory = !types.empty() && (device.memory.memoryTypes[types[0]].propertyFlags &
                                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
  return info;
}

Result<PhysicalDevice> inspect(const Instance& instance, VkPhysicalDevice handle) {
  const VulkanApi& api = instance.api();
  PhysicalDevice device;
  device.handle = handle;
  STOKER_ASSIGN(const auto listed,
                enumerate<VkExtensionProperties>(
                    "vkEnumerateDeviceExtensionProperties", [&](auto* count, auto* out) {
                      return api.vkEnumerateDeviceExtensionProperties(handle, nullptr, count, out);
                    }));
  std::vector<std::string> extensions;
  for (const VkExtensionProperties& each : listed) extensions.emplace_back(each.extensionName);

  VkPhysicalDeviceProperties2 basic =
      vk_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  api.vkGetPhysicalDeviceProperties2(handle, &basic);
  device.properties = basic.properties;
  device.api_version = std::min(basic.properties.apiVersion, instance.api_version());
  device.info.description = basic.properties.deviceName;
  if (device.api_version < VK_API_VERSION_1_2) {
    device.rejected =
        "supports Vulkan " + std::to_string(VK_API_VERSION_MAJOR(basic.properties.apiVersion)) +
        "." + std::to_string(VK_API_VERSION_MINOR(basic.properties.apiVersion)) + "; 1.2 is needed";
    return device;
  }
  for (const WantedExtension& wanted : wanted_extensions())
    if ((wanted.core_since == 0 || device.api_version < wanted.core_since) &&
        std::ranges::find(extensions, wanted.name) != extensions.end())
      device.extensions.emplace_back(wanted.name);

  FeatureChain supported;
  supported.link(device.api_version, device.extensions);
  api.vkGetPhysicalDeviceFeatures2(handle, &supported.core);
  FeatureChain wanted;
  wanted.take_wanted(supported);
  device.shaders.features = wanted.names();
  if (const char* missing = wanted.missing()) {
    device.rejected = std::string{"lacks the feature "} + missing;
    return device;
  }

  Properties properties;
  const bool maintenance4 = device.api_version >= VK_API_VERSION_1_3 ||
                            device.has_extension(VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
  properties.read(api, handle, extensions, maintenance4);
  device.driver = properties.driver;
  device.driver.pNext = nullptr;
  if (properties.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
    device.shaders.subgroup_operations = properties.v11.subgroupSupportedOperations;
  VkPhysicalDeviceMemoryProperties2 memory = vk_struct<VkPhysicalDeviceMemoryProperties2>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  api.vkGetPhysicalDeviceMemoryProperties2(handle, &memory);
  device.memory = memory.memoryProperties;
  choose_families(instance, device);
  if (device.compute_family == no_family) {
    device.rejected = "has no queue for compute";
    return device;
  }
  device.info = describe(device, properties);
  return device;
}

}  // namespace

bool PhysicalDevice::has_extension(std::string_view name) const noexcept {
  return std::ranges::find(extensions, name) != extensions.end();
}

bool PhysicalDevice::has_feature(std::string_view name) const noexcept {
  return std::ranges::find(shaders.features, name) != shaders.features.end();
}

bool PhysicalDevice::shuffles() const noexcept {
  constexpr VkSubgroupFeatureFlags needed =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  return (shaders.subgroup_operations & needed) == needed && has_feature("computeFullSubgroups");
}

std::uint64_t PhysicalDevice::most_rounds() const noexcept {
  // Mesa, gallivm/lp_bld_limits.h: LP_MAX_TGSI_LOOP_ITERATIONS.
  return driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE ? 65535 : ~std::uint64_t{0};
}

Result<std::vector<PhysicalDevice>> enumerate_devices(const Instance& instance) {
  const LibraryPin pin;
  STOKER_ASSIGN(
      const auto handles,
      enumerate<VkPhysicalDevice>("vkEnumeratePhysicalDevices", [&](auto* count, auto* out) {
        return instance.api().vkEnumeratePhysicalDevices(instance.handle(), count, out);
      }));
  std::vector<PhysicalDevice> devices;
  std::size_t accepted = 0;
  for (VkPhysicalDevice handle : handles) {
    auto device = inspect(instance, handle);
    if (!device) {
      // One broken driver must not hide the others.
      PhysicalDevice broken;
      broken.handle = handle;
      broken.info.description = "a device that cannot be inspected";
      broken.rejected = device.error().what();
      devices.push_back(std::move(broken));
      continue;
    }
    if (device->rejected.empty()) device->info.name = "vulkan:" + std::to_string(accepted++);
    devices.push_back(std::move(*device));
  }
  return devices;
}

std::uint32_t main_heap(const VkPhysicalDeviceMemoryProperties& memory) noexcept {
  std::uint32_t best = 0;
  const auto rank = [&](std::uint32_t i) {
    const bool local = memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
    return std::pair{local, memory.memoryHeaps[i].size};
  };
  for (std::uint32_t i = 1; i < memory.memoryHeapCount; ++i)
    if (rank(i) > rank(best)) best = i;
  return best;
}

std::vector<std::uint32_t> memory_types_for(const VkPhysicalDeviceMemoryProperties& memory,
                                            MemoryKind kind) {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags mappable =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  // Types with any other property (protected, lazily allocated, vendors' own) need features that
  // are not on.
  constexpr VkMemoryPropertyFlags plain = local | mappable | cached;
  const std::uint32_t heap = main_heap(memory);
  const auto score = [&](std::uint32_t i) -> int {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    const bool in_main = memory.memoryTypes[i].heapIndex == heap;
    const bool maps = (flags & mappable) == mappable;
    if (flags & ~plain) return 0;
    if (kind == MemoryKind::device) {
      if (!(flags & local)) return 0;
      return 1 + 8 * in_main + (in_main ? 4 * maps + 2 * (maps && (flags & cached)) : 4 * !maps);
    }
    if (!maps) return 0;
    const bool wants_cache = kind == MemoryKind::readback;
    return 1 + 4 * (wants_cache == bool(flags & cached)) + 2 * !(flags & local);
  };
  std::vector<std::uint32_t> types;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if (score(i) > 0) types.push_back(i);
  std::ranges::stable_sort(types,
                           [&](std::uint32_t a, std::uint32_t b) { return score(a) > score(b); });
  return types;
}

}  // namespace stoker::device::vulkan
