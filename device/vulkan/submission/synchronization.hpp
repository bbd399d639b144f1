// Barriers, timestamps and queue submission, with synchronization2 where the device has it and with
// the calls of Vulkan 1.0 where it has not. Nothing else in this folder knows the difference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/device/vulkan/instance/device_handle.hpp"

namespace stoker::device::vulkan {

/// Who touches memory; values combine.
enum class Stage : std::uint8_t { none = 0, compute = 1, transfer = 2, host = 4 };
[[nodiscard]] constexpr Stage operator|(Stage a, Stage b) noexcept {
  return static_cast<Stage>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
[[nodiscard]] constexpr bool contains(Stage set, Stage one) noexcept {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

/// What `from` wrote is visible to `to`, and `to` starts after `from`: one global memory barrier.
/// `to` may be `host`: then the host sees it once it has seen the submission complete.
void barrier(const DeviceHandle& device, VkCommandBuffer commands, Stage from, Stage to) noexcept;

/// Writes the device's clock when everything before has finished `stage` (none: at once).
void write_timestamp(const DeviceHandle& device, VkCommandBuffer commands, Stage stage,
                     VkQueryPool pool, std::uint32_t query) noexcept;

struct SemaphoreValue {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  std::uint64_t value = 0;
};

/// One part of a submission. Batches of a call begin in order; each is a unit of its own for the
/// driver's watchdog.
struct Batch {
  std::span<const SemaphoreValue> waits;  ///< timeline semaphores
  std::span<const VkCommandBuffer> commands;
  SemaphoreValue signal;  ///< no semaphore: none
};

/// Hands batches to a queue in one call. Keeps its arrays between calls, so that a steady stream of
/// submissions allocates nothing. One thread at a time.
class Submitter {
 public:
  [[nodiscard]] VkResult submit(const DeviceHandle& device, VkQueue queue,
                                std::span<const Batch> batches);

 private:
  [[nodiscard]] VkResult submit2(const DeviceHandle& device, VkQueue queue,
                                 std::span<const Batch> batches);
  [[nodiscard]] VkResult submit1(const DeviceHandle& device, VkQueue queue,
                                 std::span<const Batch> batches);

  std::vector<VkSubmitInfo2> infos2_;
  std::vector<VkSemaphoreSubmitInfo> semaphores2_;
  std::vector<VkCommandBufferSubmitInfo> commands2_;
  std::vector<VkSubmitInfo> infos1_;
  std::vector<VkTimelineSemaphoreSubmitInfo> timelines1_;
  std::vector<VkSemaphore> semaphores1_;
  std::vector<std::uint64_t> values1_;
  std::vector<VkPipelineStageFlags> stages1_;
};

}  // namespace stoker::device::vulkan
