#include "stoker/device/vulkan/instance/device_handle.hpp"

#include <vector>

#include "stoker/device/vulkan/instance/loader.hpp"
#include "stoker/device/vulkan/instance/result.hpp"

namespace stoker::device::vulkan {

Result<std::shared_ptr<DeviceHandle>> DeviceHandle::create(std::shared_ptr<Instance> instance,
                                                           const PhysicalDevice& physical) {
  auto device = std::make_shared<DeviceHandle>(std::move(instance), physical);
  STOKER_TRY(device->start());
  return device;
}

DeviceHandle::DeviceHandle(std::shared_ptr<Instance> instance, const PhysicalDevice& physical)
    : instance_{std::move(instance)}, physical_{physical}, api_{instance_->api()} {}

Result<void> DeviceHandle::start() {
  const float priority = 1.0F;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (const std::uint32_t family : {physical_.compute_family, physical_.transfer_family}) {
    if (family == no_family) continue;
    VkDeviceQueueCreateInfo queue =
        vk_struct<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    queues.push_back(queue);
  }
  std::vector<const char*> extensions;
  for (const std::string& extension : physical_.extensions) extensions.push_back(extension.c_str());

  FeatureChain supported;
  supported.link(physical_.api_version, physical_.extensions);
  api_.vkGetPhysicalDeviceFeatures2(physical_.handle, &supported.core);
  FeatureChain enabled;
  enabled.link(physical_.api_version, physical_.extensions);
  enabled.take_wanted(supported);

  VkDeviceCreateInfo info = vk_struct<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &enabled.core;
  info.queueCreateInfoCount = static_cast<std::uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const LibraryPin pin;  // a driver may load more of itself for a device
  STOKER_VK(physical_.info.name, api_, vkCreateDevice, physical_.handle, &info, nullptr, &handle_);
  STOKER_TRY(api_.load_device(handle_));
  if (instance_->filter()) instance_->filter()(api_);
  synchronization2_ = physical_.has_feature("synchronization2") && api_.vkQueueSubmit2 &&
                      api_.vkCmdPipelineBarrier2 && api_.vkCmdWriteTimestamp2;
  return {};
}

DeviceHandle::~DeviceHandle() {
  const DriverUse use{*this};
  const ForkDelay closing;  // a driver may unload what it has loaded for the device
  if (handle_ && api_.vkDestroyDevice && use) api_.vkDestroyDevice(handle_, nullptr);
}

void DeviceHandle::name(VkObjectType type, std::uint64_t object, const char* name) const noexcept {
  if (!instance_->validates() || !api_.vkSetDebugUtilsObjectNameEXT) return;
  VkDebugUtilsObjectNameInfoEXT info =
      vk_struct<VkDebugUtilsObjectNameInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT);
  info.objectType = type;
  info.objectHandle = object;
  info.pObjectName = name;
  // A name that cannot be set costs nothing but readability.
  static_cast<void>(api_.vkSetDebugUtilsObjectNameEXT(handle_, &info));
}

}  // namespace stoker::device::vulkan
