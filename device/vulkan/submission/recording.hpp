// Steps kept for replay, with their command buffers.
//
// The command buffers are made once every kernel in them has been measured: until then nobody knows how to
// cut them into segments, so a run is encoded for itself, with timestamps. If a second run is expected, the
// end of the first makes them, so that the second encodes nothing. Addresses stand in the command buffers if
// the steps stay on their memory. If they are expected to move, or did, tables say the addresses: a move
// writes these.
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

  [[nodiscard]] bool is_encoded() const noexcept;
  /// Each run is on other memory. Without effect once there are command buffers, or if a step cannot move.
  void expect_moves() noexcept;

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
  bool moves_ = false;  // they have, or will: the command buffers have tables
  std::array<Encoded, queue_kinds> lists_;
};

/// Whether each kernel among `steps` has been measured.
[[nodiscard]] bool all_measured(std::span<const Step> steps) noexcept;

}  // namespace stoker::device::vulkan
