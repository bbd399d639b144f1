// A kernel made ready for one set of shapes: pipelines, parameters and grids in order.
#pragma once

#include <array>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/vulkan/pipelines/pipelines.hpp"

namespace stoker::device::vulkan {

struct Pass {
  std::shared_ptr<const Pipeline> pipeline;
  boost::container::small_vector<PassBinding, 4> bindings;
  /// The block of kernels/shader/preamble.hpp: the addresses' place first, filled in per step, then the push fields.
  std::vector<std::byte> parameters;
  bool in_memory = false;  ///< the block is not pushed but lies in memory
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  bool after_barrier = false;  ///< depends on a pass since the last barrier
};

/// Writes the addresses of what a pass of the step binds, in order.
void write_addresses(const Step& step, const Pass& pass, std::byte* to) noexcept;

class VulkanExecutable final : public Executable {
 public:
  /// Plans the kernel and makes its pipelines. Errors: unsupported (no GPU version; a missing
  /// feature, named), limit_exceeded (which limit), those of Pipelines::get and of the plan itself.
  [[nodiscard]] static Result<std::shared_ptr<const Executable>> prepare(
      const DeviceHandle& device, Pipelines& pipelines, const Kernel& kernel,
      const KernelCall& call, std::span<const TensorSpec> outputs);

  std::vector<Pass> passes;  ///< none when there is nothing to compute

  /// The measured time of one run, smoothed; 0 until measured. Any thread.
  [[nodiscard]] std::uint64_t estimate_ns() const noexcept {
    return estimate_ns_.load(std::memory_order_relaxed);
  }
  /// One more measurement; says once if single runs take longer than `target_ns` (0: never). The
  /// first is not judged: it may include what is done only once. Any thread.
  void measured(std::uint64_t ns, std::uint64_t target_ns) const noexcept;

 private:
  mutable std::atomic<std::uint64_t> estimate_ns_{0};
  mutable std::atomic<bool> reported_{false};
};

}  // namespace stoker::device::vulkan
