// A VkDevice with what every part of the backend needs to know about it.
//
// Lifetime: shared by the backend, its memory, pipelines and recordings; the VkDevice goes when the
// last of them does. An abandoned device (work that never ended) is left behind on purpose, with
// everything made from it: a hung GPU may still touch all of it.
//
// Threads: any; whoever calls the driver with the device beside its queues holds a DriverUse.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/device/vulkan/instance/physical_device.hpp"
#include "stoker/runtime/base/exit_watch.hpp"

namespace stoker::device::vulkan {

/// What BackendCounters reports, counted where it happens.
struct Counters {
  std::atomic<std::uint64_t> submissions{0};
  std::atomic<std::uint64_t> barriers{0};
  std::atomic<std::uint64_t> pipelines{0};
  std::atomic<std::uint64_t> pipelines_created{0};
  std::atomic<std::uint64_t> pipelines_from_cache{0};
  std::atomic<std::uint64_t> recordings{0};
  std::atomic<std::uint64_t> encoded{0};
};

class MappedBlock;

class DeviceHandle {
 public:
  [[nodiscard]] static Result<std::shared_ptr<DeviceHandle>> create(
      std::shared_ptr<Instance> instance, const PhysicalDevice& physical);
  DeviceHandle(std::shared_ptr<Instance> instance, const PhysicalDevice& physical);
  ~DeviceHandle();
  DeviceHandle(const DeviceHandle&) = delete;
  DeviceHandle& operator=(const DeviceHandle&) = delete;

  [[nodiscard]] VkDevice handle() const noexcept { return handle_; }
  [[nodiscard]] const VulkanApi& api() const noexcept { return api_; }
  [[nodiscard]] const Instance& instance() const noexcept { return *instance_; }
  [[nodiscard]] const PhysicalDevice& physical() const noexcept { return physical_; }
  [[nodiscard]] const DeviceInfo& info() const noexcept { return physical_.info; }
  /// Whether synchronization2's calls are used; otherwise the ones of Vulkan 1.0.
  [[nodiscard]] bool synchronization2() const noexcept { return synchronization2_; }

  /// From now on nothing made from this device is destroyed.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }
  [[nodiscard]] bool abandoned() const noexcept {
    return abandoned_.load(std::memory_order_acquire);
  }

  /// Gives an object the name that validation messages and capture tools show.
  void name(VkObjectType type, std::uint64_t object, const char* name) const noexcept;

  Counters counters;
  std::atomic<std::uint64_t> bytes_in_use{0};  ///< of all memory blocks
  std::atomic<std::uint32_t> allocations{0};   ///< memory blocks there are
  std::mutex mapped_mutex;
  std::vector<std::weak_ptr<MappedBlock>> mapped_blocks;  ///< those that MappedPiece cuts

 private:
  [[nodiscard]] Result<void> start();

  const std::shared_ptr<Instance> instance_;
  const PhysicalDevice physical_;
  VulkanApi api_;
  VkDevice handle_ = VK_NULL_HANDLE;
  bool synchronization2_ = false;
  std::atomic<bool> abandoned_{false};
};

/// Makes, uses or destroys a device's objects while it exists and is true: exit() waits for it before
/// the driver cleans up, for two seconds at most. False once the device is abandoned or exit() has begun:
/// then the driver is not to be called.
class DriverUse {
 public:
  explicit DriverUse(const DeviceHandle& device) {
    if (!device.abandoned()) delay_.emplace();
  }
  explicit operator bool() const noexcept { return delay_ && !delay_->too_late(); }

 private:
  std::optional<ExitDelay> delay_;
};

}  // namespace stoker::device::vulkan
