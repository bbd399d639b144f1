#include "stoker/device/vulkan/pipelines/pipeline_cache.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <string>

#include "stoker/device/vulkan/instance/result.hpp"
#include "stoker/device/vulkan/pipelines/cache_file.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan {
namespace {

std::filesystem::path file_for(const DeviceHandle& device, const std::string& directory) {
  if (directory.empty()) return {};
  const PhysicalDevice& physical = device.physical();
  return std::filesystem::path{directory} /
         ("vulkan-" + physical.info.uuid + "-" + std::to_string(physical.properties.driverVersion) +
          "-" + std::to_string(cache_format) + ".cache");
}

/// Whether the driver's own header names this device; the specification leaves that to the caller.
bool fits(std::span<const std::byte> data, const VkPhysicalDeviceProperties& device) {
  VkPipelineCacheHeaderVersionOne header{};
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == device.vendorID && header.deviceID == device.deviceID &&
         std::memcmp(header.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

}  // namespace

Result<std::unique_ptr<PipelineCache>> PipelineCache::open(std::shared_ptr<DeviceHandle> device,
                                                           const std::string& directory) {
  std::filesystem::path file = file_for(*device, directory);
  auto cache = std::make_unique<PipelineCache>(std::move(device), std::move(file));
  STOKER_TRY(cache->start());
  return cache;
}

Result<void> PipelineCache::start() {
  std::vector<std::byte> data;
  if (!file_.empty()) data = read_cache_file(file_);
  if (!fits(data, device_->physical().properties)) data.clear();
  VkPipelineCacheCreateInfo info =
      vk_struct<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  STOKER_VK("open", device_->api(), vkCreatePipelineCache, device_->handle(), &info, nullptr,
            &handle_);
  return {};
}

void PipelineCache::on_compiled() noexcept {
  const std::uint64_t compiled = compiled_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::has_single_bit(compiled)) save();
}

void PipelineCache::save() noexcept {
  const std::uint64_t compiled = compiled_.load(std::memory_order_relaxed);
  if (file_.empty() || saved_.load(std::memory_order_relaxed) == compiled) return;
  const std::scoped_lock lock{saving_};
  try {
    const VulkanApi& api = device_->api();
    std::size_t size = 0;
    if (api.vkGetPipelineCacheData(device_->handle(), handle_, &size, nullptr) != VK_SUCCESS ||
        size == 0)
      return;
    std::vector<std::byte> data(size);
    // Incomplete data (the cache grew meanwhile) is valid, only short of the newest pipelines.
    if (api.vkGetPipelineCacheData(device_->handle(), handle_, &size, data.data()) < 0) return;
    data.resize(size);
    if (const auto written = write_cache_file(file_, data); !written) {
      if (!warned_.exchange(true, std::memory_order_relaxed))
        log_warn("the pipeline cache was not saved", {{"reason", written.error().what()}});
      return;
    }
    saved_.store(compiled, std::memory_order_relaxed);
  } catch (...) {
    // Out of host memory: the next save tries again.
  }
}

PipelineCache::~PipelineCache() {
  const DriverUse use{*device_};
  if (!handle_ || !use) return;
  save();
  device_->api().vkDestroyPipelineCache(device_->handle(), handle_, nullptr);
}

}  // namespace stoker::device::vulkan
