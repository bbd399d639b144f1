// Command buffers with what they need while they run: their pool, small host-written constants and
// a query pool for timestamps. Filled by an Encoder; kept by a recording, or reset and used again.
//
// Contents are cut into segments, one command buffer each. Reset and destroyed only when no
// submission of it is in flight. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/device/vulkan/memory/mapped_pieces.hpp"
#include "stoker/device/vulkan/memory/memory.hpp"

namespace stoker::device::vulkan {

class CommandList {
 public:
  /// `reusable`: may be submitted again, also while it still runs.
  CommandList(std::shared_ptr<DeviceHandle> device, std::uint32_t family, bool reusable) noexcept
      : device_{std::move(device)}, family_{family}, reusable_{reusable} {}
  ~CommandList();
  CommandList(const CommandList&) = delete;
  CommandList& operator=(const CommandList&) = delete;

  /// Empties it; keeps its memory.
  [[nodiscard]] Result<void> reset();

  /// Opens the next segment's command buffer.
  [[nodiscard]] Result<VkCommandBuffer> begin();
  /// Closes it; `steps_done` steps are complete at its end.
  [[nodiscard]] Result<void> end(std::uint32_t steps_done);

  /// `size` bytes of mapped memory that stay as the host writes them until reset(): the device's own where
  /// the host can write that. They begin at a multiple of 16.
  [[nodiscard]] Result<MemoryView> constants(std::uint64_t size);

  /// A pool of at least `count` timestamp queries, all of them reset.
  [[nodiscard]] Result<VkQueryPool> timestamps(std::uint32_t count);
  [[nodiscard]] VkQueryPool timestamp_pool() const noexcept { return queries_; }

  [[nodiscard]] std::span<const VkCommandBuffer> segments() const noexcept {
    return {buffers_.data(), used_};
  }
  [[nodiscard]] std::span<const std::uint32_t> steps_done() const noexcept { return steps_done_; }

 private:
  const std::shared_ptr<DeviceHandle> device_;
  const std::uint32_t family_;
  const bool reusable_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> buffers_;
  std::size_t used_ = 0;
  std::vector<std::uint32_t> steps_done_;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  std::uint32_t query_count_ = 0;
  std::vector<MappedPiece> pieces_;
  std::size_t piece_ = 0;  // the one being filled
  std::uint64_t piece_used_ = 0;
};

}  // namespace stoker::device::vulkan
