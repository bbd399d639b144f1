// Small pieces of memory that the host writes and the device reads, cut from shared blocks: devices
// allow few allocations, and there are many recordings.
//
// Threads: any. A block goes with the last of its pieces.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/vulkan/memory/memory.hpp"

namespace stoker::device::vulkan {

class MappedBlock;

/// One piece. Given back by its end, when nothing in flight reads it.
class MappedPiece {
 public:
  static constexpr std::uint64_t usual_bytes = 4096;

  /// At least `bytes`, the device's own memory where the host can write that: there kernels read as fast
  /// as from any. What is larger than usual has a block to itself. Fails as VulkanBlock::allocate().
  [[nodiscard]] static Result<MappedPiece> take(const std::shared_ptr<DeviceHandle>& device,
                                                std::uint64_t bytes);
  MappedPiece(MappedPiece&&) noexcept = default;
  MappedPiece& operator=(MappedPiece&&) = delete;
  ~MappedPiece();

  /// All of it; begins at a multiple of 64.
  [[nodiscard]] MemoryView view() const noexcept;

 private:
  MappedPiece(std::shared_ptr<MappedBlock> block, std::uint32_t number) noexcept
      : block_{std::move(block)}, number_{number} {}

  std::shared_ptr<MappedBlock> block_;
  std::uint32_t number_ = 0;
};

}  // namespace stoker::device::vulkan
