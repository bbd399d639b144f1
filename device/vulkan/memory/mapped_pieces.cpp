#include "stoker/device/vulkan/memory/mapped_pieces.hpp"

#include <algorithm>

namespace stoker::device::vulkan {
namespace {

constexpr std::uint64_t pieces_of_block = 64;

Result<std::unique_ptr<VulkanBlock>> mapped(const std::shared_ptr<DeviceHandle>& device,
                                            std::uint64_t bytes) {
  if (auto own = VulkanBlock::allocate(device, bytes, MemoryKind::device); own && (*own)->host)
    return own;
  return VulkanBlock::allocate(device, bytes, MemoryKind::upload);
}

}  // namespace

class MappedBlock {
 public:
  MappedBlock(std::unique_ptr<VulkanBlock> memory, std::uint64_t piece_bytes)
      : memory_{std::move(memory)}, piece_bytes_{piece_bytes} {
    const auto count = static_cast<std::uint32_t>(memory_->bytes / piece_bytes);
    for (std::uint32_t i = count; i > 0; --i) free_.push_back(i - 1);
  }

  [[nodiscard]] bool take(std::uint32_t& number) {
    const std::scoped_lock lock{mutex_};
    if (free_.empty()) return false;
    number = free_.back();
    free_.pop_back();
    return true;
  }
  void give_back(std::uint32_t number) {
    const std::scoped_lock lock{mutex_};
    free_.push_back(number);  // within its capacity
  }
  [[nodiscard]] MemoryView view(std::uint32_t number) const noexcept {
    return {memory_.get(), number * piece_bytes_, piece_bytes_};
  }

 private:
  const std::unique_ptr<VulkanBlock> memory_;
  const std::uint64_t piece_bytes_;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
};

Result<MappedPiece> MappedPiece::take(const std::shared_ptr<DeviceHandle>& device,
                                      std::uint64_t bytes) {
  std::uint32_t number = 0;
  if (bytes > usual_bytes) {
    STOKER_ASSIGN(auto memory, mapped(device, bytes));
    auto block = std::make_shared<MappedBlock>(std::move(memory), bytes);
    static_cast<void>(block->take(number));
    return MappedPiece{std::move(block), number};
  }
  const std::scoped_lock lock{device->mapped_mutex};
  auto& known = device->mapped_blocks;
  std::erase_if(known, [](const auto& block) { return block.expired(); });
  for (const auto& one : known)
    if (auto block = one.lock(); block && block->take(number))
      return MappedPiece{std::move(block), number};
  STOKER_ASSIGN(auto memory, mapped(device, pieces_of_block * usual_bytes));
  auto block = std::make_shared<MappedBlock>(std::move(memory), usual_bytes);
  static_cast<void>(block->take(number));
  known.push_back(block);
  return MappedPiece{std::move(block), number};
}

MappedPiece::~MappedPiece() {
  if (block_) block_->give_back(number_);
}

MemoryView MappedPiece::view() const noexcept { return block_->view(number_); }

}  // namespace stoker::device::vulkan
