// Steps kept for replay, with their command buffers.
//
// The command buffers are made on the first replay after every kernel in them has been measured:
// until then nobody knows how to cut them into segments, so runs are encoded each time, with
// timestamps. As long as the steps stay on their memory, its addresses stand in the command buffers; once
// they were put on other memory, they are said by tables, and putting them elsewhere writes these.
// One thread at a time (the device's strand).
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
  VulkanRecording(std::shared_ptr<DeviceHandle> device, std::span<const Step> steps);

  [[nodiscard]] std::span<const Step> steps() const noexcept { return steps_; }

  /// How long a run takes from submission to completion, smoothed; 0 until one ended. Any thread.
  std::atomic<std::uint64_t> typical_ns{0};

  /// The command buffers for one queue; encodes them first if that has not been done.
  [[nodiscard]] Result<const CommandList*> list(QueueKind queue, std::uint32_t family,
                                                Encoder& encoder);

  /// The same steps on the memory that `steps` name. False, with nothing changed, if not all are
  /// dispatches. Not in flight.
  [[nodiscard]] bool rebind(std::span<const Step> steps) noexcept;

 private:
  struct Encoded {
    std::unique_ptr<CommandList> list;
    std::vector<AddressTable> tables;
    bool shows_to_host = false;
  };

  const std::shared_ptr<DeviceHandle> device_;
  std::vector<Step> steps_;
  std::vector<std::uint64_t>
      addresses_;       // of all that they name: that memory may be gone when they move
  bool moves_ = false;  // they have
  std::array<Encoded, queue_kinds> lists_;
};

/// Whether each kernel among `steps` has been measured.
[[nodiscard]] bool all_measured(std::span<const Step> steps) noexcept;

}  // namespace stoker::device::vulkan
