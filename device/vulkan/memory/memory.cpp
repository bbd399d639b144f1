#include "stoker/device/vulkan/memory/memory.hpp"

#include <algorithm>

#include "stoker/device/vulkan/instance/result.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr std::uint64_t unknown_bytes = ~std::uint64_t{0};
// Wide loads of four elements may touch the rest of the last sixteen bytes.
constexpr std::uint64_t size_grain = 64;

constexpr VkBufferUsageFlags usage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

}  // namespace

std::uint64_t free_bytes(const DeviceHandle& device) noexcept {
  if (!device.physical().has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) return unknown_bytes;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget =
      vk_struct<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  VkPhysicalDeviceMemoryProperties2 memory = vk_struct<VkPhysicalDeviceMemoryProperties2>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  memory.pNext = &budget;
  device.api().vkGetPhysicalDeviceMemoryProperties2(device.physical().handle, &memory);
  const std::uint32_t heap = main_heap(device.physical().memory);
  return budget.heapBudget[heap] - std::min(budget.heapBudget[heap], budget.heapUsage[heap]);
}

Result<std::unique_ptr<VulkanBlock>> VulkanBlock::allocate(std::shared_ptr<DeviceHandle> device,
                                                           std::uint64_t bytes, MemoryKind kind) {
  const std::uint64_t limit = device->info().limits.max_allocation;
  if (bytes > limit)
    return Error{"allocate",
                 ErrorCode::limit_exceeded,
                 "larger than one buffer may be on this device",
                 {{"requested", std::to_string(bytes)},
                  {"limit", std::to_string(limit)},
                  {"which_limit", "max_allocation"},
                  {"device", device->info().name}}};
  auto block = std::make_unique<VulkanBlock>(std::move(device));
  STOKER_TRY(block->start(bytes, kind));
  return block;
}

Result<void> VulkanBlock::start(std::uint64_t size, MemoryKind block_kind) {
  const VulkanApi& api = device_->api();
  const PhysicalDevice& physical = device_->physical();
  const std::uint32_t families[] = {physical.compute_family, physical.transfer_family};
  VkBufferCreateInfo info = vk_struct<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  // Rounded up, but never past the limit that `size` itself keeps.
  info.size = std::max(size, std::min(physical.info.limits.max_allocation,
                                      (std::max<std::uint64_t>(size, 1) + size_grain - 1) /
                                          size_grain * size_grain));
  info.usage = usage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  if (physical.transfer_family != no_family) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = families;
  }
  STOKER_VK("allocate", api, vkCreateBuffer, device_->handle(), &info, nullptr, &buffer_);
  VkMemoryRequirements needs{};
  api.vkGetBufferMemoryRequirements(device_->handle(), buffer_, &needs);

  const std::uint32_t most = physical.properties.limits.maxMemoryAllocationCount;
  if (device_->allocations.fetch_add(1, std::memory_order_relaxed) >= most) {
    device_->allocations.fetch_sub(1, std::memory_order_relaxed);
    return Error{"allocate",
                 ErrorCode::out_of_memory,
                 "the device allows no further allocation",
                 {{"requested", std::to_string(size)},
                  {"limit", std::to_string(most)},
                  {"which_limit", "maxMemoryAllocationCount"},
                  {"device", physical.info.name}}};
  }
  counted_ = true;
  std::uint32_t type = 0;
  if (const VkResult result = take_memory(needs.size, needs.memoryTypeBits, block_kind, type);
      result < 0) {
    const std::uint32_t heap = physical.memory.memoryTypes[type].heapIndex;
    std::vector<Detail> details{
        {"requested", std::to_string(size)},
        {"limit", std::to_string(physical.memory.memoryHeaps[heap].size)},
        {"in_use", std::to_string(device_->bytes_in_use.load(std::memory_order_relaxed))},
        {"device", physical.info.name}};
    if (const std::uint64_t left = free_bytes(*device_); left != unknown_bytes)
      details.push_back({"free", std::to_string(left)});
    return vk_error("allocate", "vkAllocateMemory", result, std::move(details));
  }
  taken_ = needs.size;
  device_->bytes_in_use.fetch_add(taken_, std::memory_order_relaxed);
  STOKER_VK("allocate", api, vkBindBufferMemory, device_->handle(), buffer_, memory_, 0);
  if (physical.memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
    void* mapped = nullptr;
    STOKER_VK("allocate", api, vkMapMemory, device_->handle(), memory_, 0, VK_WHOLE_SIZE, 0,
              &mapped);
    host = static_cast<std::byte*>(mapped);
  }
  const VkBufferDeviceAddressInfo where{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr,
                                        buffer_};
  address = api.vkGetBufferDeviceAddress(device_->handle(), &where);
  bytes = size;
  kind = block_kind;
  return {};
}

VkResult VulkanBlock::take_memory(std::uint64_t size, std::uint32_t allowed_types,
                                  MemoryKind block_kind, std::uint32_t& type) {
  VkMemoryAllocateFlagsInfo flags =
      vk_struct<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (const std::uint32_t candidate : memory_types_for(device_->physical().memory, block_kind)) {
    if (!(allowed_types & (1U << candidate))) continue;
    type = candidate;
    VkMemoryAllocateInfo info =
        vk_struct<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    info.pNext = &flags;
    info.allocationSize = size;
    info.memoryTypeIndex = candidate;
    result = device_->api().vkAllocateMemory(device_->handle(), &info, nullptr, &memory_);
    // A full heap may leave room in the next best one; any other failure is final.
    if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY) break;
  }
  return result;
}

VulkanBlock::~VulkanBlock() {
  const DriverUse use{*device_};
  if (!use) return;
  const VulkanApi& api = device_->api();
  if (buffer_) api.vkDestroyBuffer(device_->handle(), buffer_, nullptr);
  if (memory_) api.vkFreeMemory(device_->handle(), memory_, nullptr);
  device_->bytes_in_use.fetch_sub(taken_, std::memory_order_relaxed);
  if (counted_) device_->allocations.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace stoker::device::vulkan
