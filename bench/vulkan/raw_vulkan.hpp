// A small program written directly on Vulkan: the floor under every row about a Vulkan device.
//
// It shares nothing with Stoker's own Vulkan code but the SPIR-V of the kernels: its own instance,
// device, queue, timeline semaphore and memory, command buffers recorded beforehand, and no checks.
//
// Ownership: everything it makes lives until the object goes. Threads: one. Errors: throws
// std::runtime_error naming the Vulkan call.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker::bench {

class RawVulkan {
 public:
  /// Opens the device whose UUID this is (DeviceInfo::uuid).
  explicit RawVulkan(const std::string& uuid);
  ~RawVulkan();
  RawVulkan(const RawVulkan&) = delete;
  RawVulkan& operator=(const RawVulkan&) = delete;

  struct Memory {
    VkBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  /// Device memory, uninitialised.
  [[nodiscard]] Memory memory(std::uint64_t bytes);

  /// A kernel whose plan for these inputs is a single pass, ready to be dispatched.
  struct Program {
    VkPipeline pipeline = VK_NULL_HANDLE;
    std::vector<PassBinding> bindings;
    std::vector<std::byte> push;
    std::array<std::uint32_t, 3> groups{};
  };
  [[nodiscard]] Program program(const Kernel& kernel, std::span<const TensorSpec> inputs);

  /// A command buffer that may be submitted many times.
  [[nodiscard]] VkCommandBuffer record(const std::function<void(VkCommandBuffer)>& fill);
  // For the function passed to record():
  void dispatch(VkCommandBuffer commands, const Program& program, std::span<const Memory> inputs,
                std::span<const Memory> outputs) const;
  void barrier(VkCommandBuffer commands) const;
  void copy(VkCommandBuffer commands, const Memory& from, const Memory& to) const;

  /// One vkQueueSubmit2; the value that the timeline reaches when it is done.
  std::uint64_t submit(VkCommandBuffer commands);
  void wait(std::uint64_t value) const;  ///< vkWaitSemaphores
  void spin(std::uint64_t value) const;  ///< vkGetSemaphoreCounterValue until it is there

  /// Seconds on the device, between timestamps around what `fill` records.
  [[nodiscard]] double device_seconds(const std::function<void(VkCommandBuffer)>& fill);

 private:
  struct Api;
  void open_instance();
  void open_device(const std::string& uuid);
  void make_queue_objects();
  [[nodiscard]] std::uint32_t memory_type(std::uint32_t allowed) const;

  std::unique_ptr<Api> api_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t family_ = 0;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  double tick_seconds_ = 0;
  std::uint64_t value_ = 0;
  std::vector<VkPipeline> pipelines_;
  std::vector<VkBuffer> buffers_;
  std::vector<VkDeviceMemory> allocations_;
};

}  // namespace stoker::bench
