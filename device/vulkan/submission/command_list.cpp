#include "stoker/device/vulkan/submission/command_list.hpp"

#include <algorithm>
#include <bit>

#include "stoker/device/vulkan/instance/result.hpp"
#include "stoker/runtime/base/sanitizers.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr std::uint64_t constants_alignment = 16;

}  // namespace

CommandList::~CommandList() {
  const DriverUse use{*device_};
  if (!use) {
    for (MappedPiece& piece : pieces_) sanitizers::ignore_leak(new MappedPiece{std::move(piece)});
    return;
  }
  if (pool_) device_->api().vkDestroyCommandPool(device_->handle(), pool_, nullptr);
  if (queries_) device_->api().vkDestroyQueryPool(device_->handle(), queries_, nullptr);
}

Result<void> CommandList::reset() {
  if (used_ > 0)
    STOKER_VK("submit", device_->api(), vkResetCommandPool, device_->handle(), pool_, 0);
  used_ = 0;
  steps_done_.clear();
  piece_ = 0;
  piece_used_ = 0;
  return {};
}

Result<VkCommandBuffer> CommandList::begin() {
  const VulkanApi& api = device_->api();
  if (!pool_) {
    VkCommandPoolCreateInfo info =
        vk_struct<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.flags = reusable_ ? 0 : VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    info.queueFamilyIndex = family_;
    STOKER_VK("submit", api, vkCreateCommandPool, device_->handle(), &info, nullptr, &pool_);
  }
  if (used_ == buffers_.size()) {
    VkCommandBufferAllocateInfo info =
        vk_struct<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    STOKER_VK("submit", api, vkAllocateCommandBuffers, device_->handle(), &info, &buffer);
    buffers_.push_back(buffer);
  }
  VkCommandBufferBeginInfo info =
      vk_struct<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = reusable_ ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                         : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  VkCommandBuffer buffer = buffers_[used_++];
  STOKER_VK("submit", api, vkBeginCommandBuffer, buffer, &info);
  return buffer;
}

Result<void> CommandList::end(std::uint32_t steps_done) {
  STOKER_VK("submit", device_->api(), vkEndCommandBuffer, buffers_[used_ - 1]);
  steps_done_.push_back(steps_done);
  device_->counters.encoded.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<MemoryView> CommandList::constants(std::uint64_t size) {
  const std::uint64_t rounded =
      (size + constants_alignment - 1) / constants_alignment * constants_alignment;
  while (piece_ < pieces_.size() && piece_used_ + rounded > pieces_[piece_].view().bytes) {
    ++piece_;
    piece_used_ = 0;
  }
  if (piece_ == pieces_.size()) {
    STOKER_ASSIGN(MappedPiece piece, MappedPiece::take(device_, rounded));
    pieces_.push_back(std::move(piece));
  }
  const MemoryView whole = pieces_[piece_].view();
  const MemoryView view{whole.block, whole.offset + piece_used_, size};
  piece_used_ += rounded;
  return view;
}

Result<VkQueryPool> CommandList::timestamps(std::uint32_t count) {
  const VulkanApi& api = device_->api();
  if (query_count_ < count) {
    if (queries_) api.vkDestroyQueryPool(device_->handle(), queries_, nullptr);
    queries_ = VK_NULL_HANDLE;
    query_count_ = 0;
    VkQueryPoolCreateInfo info =
        vk_struct<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = std::bit_ceil(std::max(count, 64U));
    STOKER_VK("submit", api, vkCreateQueryPool, device_->handle(), &info, nullptr, &queries_);
    query_count_ = info.queryCount;
  }
  api.vkResetQueryPool(device_->handle(), queries_, 0, count);
  return queries_;
}

}  // namespace stoker::device::vulkan
