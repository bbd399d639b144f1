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

/// Where a dispatch finds what it binds.
struct AddressTable {
  std::uint32_t step = 0;
  std::uint32_t pass = 0;
  std::byte* host = nullptr;  ///< as write_addresses() leaves it
};

/// Whether the host may touch what the step writes: read it, or, where device memory is mapped, write
/// into it once it has been lent anew. A wait for a semaphore alone orders neither: what the device wrote
/// could still be on its way to memory, and overwrite what the host writes.
[[nodiscard]] bool shows_to_host(const Step& step) noexcept;

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
    /// If set, of steps that are all dispatches: their memory is said by tables, listed here, that may
    /// be written anew while the list is not in flight.
    std::vector<AddressTable>* tables = nullptr;
  };

  /// Encodes `steps` into `list`, which is empty before. After a failure it must be reset.
  [[nodiscard]] Result<void> encode(std::span<const Step> steps, CommandList& list,
                                    const Options& options);

 private:
  /// Who carries each step out: a copy or fill may be a dispatch.
  void choose_stages(std::span<const Step> steps, bool transfer_only);
  [[nodiscard]] Result<void> encode_step(const Step& step, Stage stage, CommandList& list);
  [[nodiscard]] Result<void> encode_dispatch(const Step& step, CommandList& list);
  /// Pushes what the pass is given, or where that lies in the list's memory. The host's address of a
  /// table that says what it binds, null if there is none.
  [[nodiscard]] Result<std::byte*> push(const Step& step, const Pass& pass, CommandList& list);
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
  std::vector<AddressTable>* tables_ = nullptr;
  std::uint32_t index_ = 0;            // of the step
  std::vector<std::byte> parameters_;  // of one dispatch
};

}  // namespace stoker::device::vulkan
