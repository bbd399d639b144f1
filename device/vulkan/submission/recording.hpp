// Steps kept for replay, with their command buffers.
//
// The command buffers are made on the first replay after every kernel in them has been measured:
// until then nobody knows how to cut them into segments, so runs are encoded each time, with
// timestamps. One thread at a time (the device's strand).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/device/vulkan/submission/encoder.hpp"

namespace stoker::device::vulkan {

class VulkanRecording final : public Recording {
 public:
  VulkanRecording(std::shared_ptr<DeviceHandle> device, std::span<const Step> steps)
      : device_{std::move(device)}, steps_{steps.begin(), steps.end()} {}

  [[nodiscard]] std::span<const Step> steps() const noexcept { return steps_; }

  /// How long a run takes from submission to completion, smoothed; 0 until one ended. Any thread.
  std::atomic<std::uint64_t> typical_ns{0};

  /// The command buffers for one queue; encodes them first if that has not been done.
  [[nodiscard]] Result<const CommandList*> list(QueueKind queue, std::uint32_t family,
                                                Encoder& encoder);

 private:
  const std::shared_ptr<DeviceHandle> device_;
  const std::vector<Step> steps_;
  std::array<std::unique_ptr<CommandList>, queue_kinds> lists_;
};

/// Whether each kernel among `steps` has been measured.
[[nodiscard]] bool all_measured(std::span<const Step> steps) noexcept;

}  // namespace stoker::device::vulkan
