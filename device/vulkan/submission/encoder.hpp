// Turns steps into command buffers: dispatches, copies, fills, and barriers where they are needed.
// Large copies and fills become dispatches, too (BulkMoves).
//
// A barrier stands before a step only if the step depends on work that no earlier barrier covers.
// Work is cut into segments so that the estimated time of each stays within the submission target;
// what never ran is taken for a fraction of it. At the end, if any output is mapped, a barrier
// shows everything to the host (waiting for a semaphore alone does not: Vulkan 1.3 specification,
// 7.3, "the access scope includes only device access").
//
// Keeps its arrays between uses. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "stoker/device/vulkan/pipelines/executable.hpp"
#include "stoker/device/vulkan/submission/bulk_moves.hpp"
#include "stoker/device/vulkan/submission/command_list.hpp"
#include "stoker/device/vulkan/submission/schedule.hpp"

namespace stoker::device::vulkan {

class Encoder {
 public:
  Encoder(DeviceHandle& device, Pipelines& pipelines,
          std::chrono::nanoseconds segment_target) noexcept
      : device_{device},
        layout_{pipelines.layout()},
        bulk_{device, pipelines},
        target_ns_{static_cast<std::uint64_t>(segment_target.count())} {}

  struct Options {
    bool starts_with_barrier = false;  ///< wait for everything submitted to this queue before
    bool timed = false;                ///< two timestamps around step i: queries 2i and 2i + 1
    bool transfer_only = false;        ///< the queue can only copy
  };

  /// Encodes `steps` into `list`, which is empty before. After a failure it must be reset.
  [[nodiscard]] Result<void> encode(std::span<const Step> steps, CommandList& list,
                                    const Options& options);

 private:
  /// Who carries each step out: a copy or fill may be a dispatch.
  void choose_stages(std::span<const Step> steps, bool transfer_only);
  [[nodiscard]] Result<void> encode_step(const Step& step, Stage stage, CommandList& list);
  void encode_dispatch(const Step& step);
  void encode_copy(const Step& step);
  [[nodiscard]] Result<void> encode_fill(const Step& step, CommandList& list);
  /// A barrier for a hazard: counted, and remembered as standing before position_.
  void place_barrier(Stage from, Stage to);
  [[nodiscard]] std::uint64_t cost_ns(const Step& step) const noexcept;

  DeviceHandle& device_;
  const VkPipelineLayout layout_;
  BulkMoves bulk_;
  const std::uint64_t target_ns_;
  Schedule schedule_;
  std::vector<Stage> stages_;
  Hazards hazards_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline bound_ = VK_NULL_HANDLE;
  std::uint32_t position_ = 0;
};

}  // namespace stoker::device::vulkan
