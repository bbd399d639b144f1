// Compute pipelines, made when a kernel first needs them and shared from then on.
//
// All pipelines have one layout: 128 bytes of push constants, which hold the buffers' addresses and
// the shader's numbers, or say where in memory these are. There are no descriptors.
//
// Threads: any. Two threads that ask for the same pipeline compile it once; different pipelines
// compile side by side. Lifetime: pipelines of built-in shaders stay until the device goes; those
// of user shaders as long as an executable uses them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/device/vulkan/pipelines/pipeline_cache.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::device::vulkan {

inline constexpr std::uint32_t push_bytes_limit = most_pushed_bytes;

class Pipeline {
 public:
  Pipeline(std::shared_ptr<DeviceHandle> device, VkPipeline handle) noexcept
      : device_{std::move(device)}, handle_{handle} {
    device_->counters.pipelines.fetch_add(1, std::memory_order_relaxed);
  }
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  [[nodiscard]] VkPipeline handle() const noexcept { return handle_; }

 private:
  const std::shared_ptr<DeviceHandle> device_;
  const VkPipeline handle_;
};

class Pipelines {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Pipelines>> create(
      std::shared_ptr<DeviceHandle> device, const std::string& cache_dir);
  explicit Pipelines(std::shared_ptr<DeviceHandle> device) : device_{std::move(device)} {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  [[nodiscard]] VkPipelineLayout layout() const noexcept { return layout_; }

  /// The pipeline of one variant with `constants` in place of the shader's own. Errors:
  /// unsupported (details: `feature`), limit_exceeded (memory that its threads share), not_found (no
  /// SPIR-V), compile_failed, out_of_memory.
  [[nodiscard]] Result<std::shared_ptr<const Pipeline>> get(
      const std::shared_ptr<const Shader>& shader, const std::string& variant,
      const std::vector<std::uint32_t>& constants, std::string_view kernel);
  void save() noexcept { cache_->save(); }

 private:
  /// Held by address, not by name: two user kernels may name their shaders alike. The entry keeps
  /// the shader, so its address stays its own.
  struct Key {
    const Shader* shader;
    std::string variant;
    std::vector<std::uint32_t> constants;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    std::mutex compiling;
    std::shared_ptr<const Shader> shader;
    std::shared_ptr<const Pipeline> kept;
    std::weak_ptr<const Pipeline> used;
  };

  [[nodiscard]] std::shared_ptr<Entry> entry_for(const std::shared_ptr<const Shader>& shader,
                                                 const std::string& variant,
                                                 const std::vector<std::uint32_t>& constants);
  [[nodiscard]] Result<VkPipeline> compile(const Shader& shader, const ShaderVariant& variant,
                                           const std::vector<std::uint32_t>& constants,
                                           std::string_view kernel);

  const std::shared_ptr<DeviceHandle> device_;
  std::unique_ptr<PipelineCache> cache_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
};

}  // namespace stoker::device::vulkan
