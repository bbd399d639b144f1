// A VkInstance: Vulkan 1.3 where the loader has it, else 1.2, with validation layers on request.
//
// Threads: any. Lifetime: shared by the driver and every device opened from it; one that outlives
// exit() is left behind.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/vulkan/instance/api.hpp"
#include "stoker/runtime/base/exit_watch.hpp"

namespace stoker::device::vulkan {

class Instance {
 public:
  /// `global` has its global functions loaded. With `validation`, the Khronos layer with
  /// synchronisation validation is switched on if it is installed; its messages are counted and
  /// logged. Fails with `unsupported` when the loader is older than Vulkan 1.2.
  [[nodiscard]] static Result<std::shared_ptr<Instance>> create(const VulkanApi& global,
                                                                ApiFilter filter, bool validation);
  Instance(const VulkanApi& api, ApiFilter filter) : api_{api}, filter_{std::move(filter)} {}
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  [[nodiscard]] const VulkanApi& api() const noexcept { return api_; }
  [[nodiscard]] const ApiFilter& filter() const noexcept { return filter_; }
  [[nodiscard]] VkInstance handle() const noexcept { return handle_; }
  [[nodiscard]] std::uint32_t api_version() const noexcept { return api_version_; }
  [[nodiscard]] bool validates() const noexcept { return messenger_ != VK_NULL_HANDLE; }
  [[nodiscard]] std::uint64_t validation_messages() const noexcept {
    return messages_.load(std::memory_order_relaxed);
  }
  void count_message() noexcept { messages_.fetch_add(1, std::memory_order_relaxed); }

 private:
  [[nodiscard]] Result<void> start(bool validation);
  /// With these extensions, and drivers that implement a part of Vulkan only, if the loader can list them.
  [[nodiscard]] Result<void> create(VkInstanceCreateInfo info, std::vector<const char*> extensions);

  VulkanApi api_;
  const ApiFilter filter_;
  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::uint32_t api_version_ = 0;
  std::atomic<std::uint64_t> messages_{0};
  std::optional<ExitWatch> exit_watch_;
};

}  // namespace stoker::device::vulkan
