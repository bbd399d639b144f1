// The driver's compiled pipelines, kept on disk between processes.
//
// One file per device, driver version and format: vulkan-<device uuid>-<driver>-<format>.cache.
// The file starts with a header of our own (magic, identity, size, checksum): drivers have crashed
// on damaged data, so none reaches them. A file that does not check out is ignored and replaced.
// Files are written beside and renamed, so readers never see half of one.
//
// Threads: any. It is saved when as many pipelines are new as there were before (1, 2, 4, …) and
// when it is destroyed: a process that ends without that loses little.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/vulkan/instance/device_handle.hpp"

namespace stoker::device::vulkan {

class PipelineCache {
 public:
  /// An empty `directory` keeps nothing on disk. Fails only if the driver makes no cache object.
  [[nodiscard]] static Result<std::unique_ptr<PipelineCache>> open(
      std::shared_ptr<DeviceHandle> device, const std::string& directory);
  PipelineCache(std::shared_ptr<DeviceHandle> device, std::filesystem::path file)
      : device_{std::move(device)}, file_{std::move(file)} {}
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  [[nodiscard]] VkPipelineCache handle() const noexcept { return handle_; }
  /// Told of each pipeline that the driver had to compile.
  void on_compiled() noexcept;
  /// Writes what is new; the first failure is logged, they cost only time next time.
  void save() noexcept;

 private:
  [[nodiscard]] Result<void> start();

  const std::shared_ptr<DeviceHandle> device_;
  const std::filesystem::path file_;
  VkPipelineCache handle_ = VK_NULL_HANDLE;
  std::atomic<std::uint64_t> compiled_{0};
  std::atomic<std::uint64_t> saved_{0};
  std::atomic<bool> warned_{false};
  std::mutex saving_;
};

}  // namespace stoker::device::vulkan
