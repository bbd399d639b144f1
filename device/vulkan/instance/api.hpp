// Every Vulkan function Stoker calls, as one table of pointers, filled from a loader that was
// opened at run time.
//
// The table is the seam for tests: a filter sees it after each stage of loading (global, instance,
// device) and may replace any entry, so any result of any call can be injected. Nothing else in
// this folder names a Vulkan symbol.
//
// Threads: a table is filled once and read-only afterwards.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include <functional>

#include "stoker/runtime/base/error.hpp"

// X(name, alias): `alias` is the extension's name for the same function, for older drivers.
// Functions of the _OPTIONAL lists may be null; the code that uses them looks first.
#define STOKER_VULKAN_GLOBAL(X)                                             \
  X(vkEnumerateInstanceVersion, vkEnumerateInstanceVersion)                 \
  X(vkEnumerateInstanceLayerProperties, vkEnumerateInstanceLayerProperties) \
  X(vkCreateInstance, vkCreateInstance)

#define STOKER_VULKAN_INSTANCE(X)                                                       \
  X(vkDestroyInstance, vkDestroyInstance)                                               \
  X(vkEnumeratePhysicalDevices, vkEnumeratePhysicalDevices)                             \
  X(vkGetPhysicalDeviceProperties2, vkGetPhysicalDeviceProperties2KHR)                  \
  X(vkGetPhysicalDeviceFeatures2, vkGetPhysicalDeviceFeatures2KHR)                      \
  X(vkGetPhysicalDeviceQueueFamilyProperties, vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkGetPhysicalDeviceMemoryProperties2, vkGetPhysicalDeviceMemoryProperties2KHR)      \
  X(vkEnumerateDeviceExtensionProperties, vkEnumerateDeviceExtensionProperties)         \
  X(vkCreateDevice, vkCreateDevice)                                                     \
  X(vkGetDeviceProcAddr, vkGetDeviceProcAddr)

#define STOKER_VULKAN_INSTANCE_OPTIONAL(X)                            \
  X(vkCreateDebugUtilsMessengerEXT, vkCreateDebugUtilsMessengerEXT)   \
  X(vkDestroyDebugUtilsMessengerEXT, vkDestroyDebugUtilsMessengerEXT) \
  X(vkSetDebugUtilsObjectNameEXT, vkSetDebugUtilsObjectNameEXT)       \
  X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT, vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)

#define STOKER_VULKAN_DEVICE(X)                                   \
  X(vkDestroyDevice, vkDestroyDevice)                             \
  X(vkGetDeviceQueue, vkGetDeviceQueue)                           \
  X(vkCreateBuffer, vkCreateBuffer)                               \
  X(vkDestroyBuffer, vkDestroyBuffer)                             \
  X(vkGetBufferMemoryRequirements, vkGetBufferMemoryRequirements) \
  X(vkGetBufferDeviceAddress, vkGetBufferDeviceAddressKHR)        \
  X(vkAllocateMemory, vkAllocateMemory)                           \
  X(vkFreeMemory, vkFreeMemory)                                   \
  X(vkBindBufferMemory, vkBindBufferMemory)                       \
  X(vkMapMemory, vkMapMemory)                                     \
  X(vkCreatePipelineCache, vkCreatePipelineCache)                 \
  X(vkDestroyPipelineCache, vkDestroyPipelineCache)               \
  X(vkGetPipelineCacheData, vkGetPipelineCacheData)               \
  X(vkCreateShaderModule, vkCreateShaderModule)                   \
  X(vkDestroyShaderModule, vkDestroyShaderModule)                 \
  X(vkCreatePipelineLayout, vkCreatePipelineLayout)               \
  X(vkDestroyPipelineLayout, vkDestroyPipelineLayout)             \
  X(vkCreateComputePipelines, vkCreateComputePipelines)           \
  X(vkDestroyPipeline, vkDestroyPipeline)                         \
  X(vkCreateCommandPool, vkCreateCommandPool)                     \
  X(vkDestroyCommandPool, vkDestroyCommandPool)                   \
  X(vkResetCommandPool, vkResetCommandPool)                       \
  X(vkAllocateCommandBuffers, vkAllocateCommandBuffers)           \
  X(vkBeginCommandBuffer, vkBeginCommandBuffer)                   \
  X(vkEndCommandBuffer, vkEndCommandBuffer)                       \
  X(vkCmdBindPipeline, vkCmdBindPipeline)                         \
  X(vkCmdPushConstants, vkCmdPushConstants)                       \
  X(vkCmdDispatch, vkCmdDispatch)                                 \
  X(vkCmdCopyBuffer, vkCmdCopyBuffer)                             \
  X(vkCmdFillBuffer, vkCmdFillBuffer)                             \
  X(vkCmdPipelineBarrier, vkCmdPipelineBarrier)                   \
  X(vkCmdWriteTimestamp, vkCmdWriteTimestamp)                     \
  X(vkCreateQueryPool, vkCreateQueryPool)                         \
  X(vkDestroyQueryPool, vkDestroyQueryPool)                       \
  X(vkResetQueryPool, vkResetQueryPoolEXT)                        \
  X(vkGetQueryPoolResults, vkGetQueryPoolResults)                 \
  X(vkCreateSemaphore, vkCreateSemaphore)                         \
  X(vkDestroySemaphore, vkDestroySemaphore)                       \
  X(vkGetSemaphoreCounterValue, vkGetSemaphoreCounterValueKHR)    \
  X(vkWaitSemaphores, vkWaitSemaphoresKHR)                        \
  X(vkQueueSubmit, vkQueueSubmit)

#define STOKER_VULKAN_DEVICE_OPTIONAL(X)                        \
  X(vkQueueSubmit2, vkQueueSubmit2KHR)                          \
  X(vkCmdPipelineBarrier2, vkCmdPipelineBarrier2KHR)            \
  X(vkCmdWriteTimestamp2, vkCmdWriteTimestamp2KHR)              \
  X(vkGetCalibratedTimestampsEXT, vkGetCalibratedTimestampsEXT) \
  X(vkGetDeviceFaultInfoEXT, vkGetDeviceFaultInfoEXT)

#define STOKER_VULKAN_ALL(X)         \
  STOKER_VULKAN_GLOBAL(X)            \
  STOKER_VULKAN_INSTANCE(X)          \
  STOKER_VULKAN_INSTANCE_OPTIONAL(X) \
  STOKER_VULKAN_DEVICE(X)            \
  STOKER_VULKAN_DEVICE_OPTIONAL(X)

namespace stoker::device::vulkan {

/// A Vulkan structure of this type, otherwise zero.
template <class Struct> [[nodiscard]] constexpr Struct vk_struct(VkStructureType type) noexcept {
  Struct result{};
  result.sType = type;
  return result;
}

struct VulkanApi {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
#define STOKER_VULKAN_MEMBER(name, alias) PFN_##name name = nullptr;
  STOKER_VULKAN_ALL(STOKER_VULKAN_MEMBER)
#undef STOKER_VULKAN_MEMBER

  // Each fails with `unsupported`, naming the first function that is missing.
  [[nodiscard]] Result<void> load_global(PFN_vkGetInstanceProcAddr get);
  [[nodiscard]] Result<void> load_instance(VkInstance instance);
  [[nodiscard]] Result<void> load_device(VkDevice device);
};

/// Sees a table after each stage of loading; must leave entries that it has replaced before alone.
using ApiFilter = std::function<void(VulkanApi&)>;

}  // namespace stoker::device::vulkan
