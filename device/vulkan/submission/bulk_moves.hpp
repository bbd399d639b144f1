// Large copies and fills as dispatches of the kernels `copy` and `fill`.
//
// A driver may carry out its own commands at a fraction of the memory's pace on a queue for compute:
// NVIDIA's (580) copies 850 GB/s on an H200, whose shaders copy 4000. Small pieces, other memory and
// queues that cannot compute keep the commands.
//
// One thread at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/device/vulkan/pipelines/pipelines.hpp"
#include "stoker/device/vulkan/submission/command_list.hpp"

namespace stoker::device::vulkan {

class BulkMoves {
 public:
  BulkMoves(const DeviceHandle& device, Pipelines& pipelines) noexcept;

  /// Whether this copy or fill should be dispatched: large, within device memory, and at addresses
  /// that the kernels can handle.
  [[nodiscard]] bool takes(const Step& step) const noexcept;

  /// What to dispatch instead of a step that takes() accepts: independent of each other, and valid
  /// until the next call. Errors are those of making the kernels' pipelines.
  [[nodiscard]] Result<std::span<const Step>> dispatches(const Step& step, CommandList& list);

 private:
  [[nodiscard]] Result<void> add_copy(const MemoryView& from, const MemoryView& to);
  [[nodiscard]] Result<void> add_fill(std::span<const std::byte, 8> element, const MemoryView& to);

  const DeviceHandle& device_;
  Pipelines& pipelines_;
  const std::uint64_t least_bytes_;
  const bool moves_bytes_;  // else words only
  std::vector<Step> parts_;
};

}  // namespace stoker::device::vulkan
