// Device memory as blocks: one VkBuffer on one VkDeviceMemory, with a device address, mapped for as
// long as it lives where the host can map it. Cutting blocks into small pieces is the pool's work.
//
// Host-visible memory is always host-coherent here, so nothing is ever flushed or invalidated.
// Threads: any. Lifetime: a block keeps its device alive.
#pragma once

#include <memory>

#include "stoker/device/vulkan/instance/device_handle.hpp"

namespace stoker::device::vulkan {

class VulkanBlock final : public MemoryBlock {
 public:
  /// Errors: limit_exceeded (more than one allocation may have), out_of_memory with requested,
  /// limit (of the heap), in_use and free, device_lost.
  [[nodiscard]] static Result<std::unique_ptr<VulkanBlock>> allocate(
      std::shared_ptr<DeviceHandle> device, std::uint64_t bytes, MemoryKind kind);
  explicit VulkanBlock(std::shared_ptr<DeviceHandle> device) noexcept
      : device_{std::move(device)} {}
  ~VulkanBlock() override;
  VulkanBlock(const VulkanBlock&) = delete;
  VulkanBlock& operator=(const VulkanBlock&) = delete;

  [[nodiscard]] VkBuffer buffer() const noexcept { return buffer_; }

 private:
  [[nodiscard]] Result<void> start(std::uint64_t size, MemoryKind block_kind);
  [[nodiscard]] VkResult take_memory(std::uint64_t size, std::uint32_t allowed_types,
                                     MemoryKind block_kind, std::uint32_t& type);

  const std::shared_ptr<DeviceHandle> device_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::uint64_t taken_ = 0;
  bool counted_ = false;
};

[[nodiscard]] inline VkBuffer buffer_of(const MemoryView& view) noexcept {
  return static_cast<const VulkanBlock*>(view.block)->buffer();
}

/// Bytes of the main heap that the driver says are free for this process; all ones if it cannot say.
[[nodiscard]] std::uint64_t free_bytes(const DeviceHandle& device) noexcept;

}  // namespace stoker::device::vulkan
