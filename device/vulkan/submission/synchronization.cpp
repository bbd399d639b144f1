#include "stoker/device/vulkan/submission/synchronization.hpp"

namespace stoker::device::vulkan {
namespace {

struct Scope {
  VkPipelineStageFlags2 stages = 0;
  VkAccessFlags2 writes = 0;
  VkAccessFlags2 accesses = 0;
};

Scope scope_of(Stage stage) noexcept {
  Scope scope;
  if (contains(stage, Stage::compute)) {
    scope.stages |= VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    scope.writes |= VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    scope.accesses |= VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  }
  if (contains(stage, Stage::transfer)) {
    scope.stages |= VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    scope.writes |= VK_ACCESS_2_TRANSFER_WRITE_BIT;
    scope.accesses |= VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
  }
  if (contains(stage, Stage::host)) {
    scope.stages |= VK_PIPELINE_STAGE_2_HOST_BIT;
    scope.writes |= VK_ACCESS_2_HOST_WRITE_BIT;
    scope.accesses |= VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT;
  }
  return scope;
}

/// Shader storage has no bit of its own before synchronization2; the other bits keep their values.
VkAccessFlags access1(VkAccessFlags2 accesses) noexcept {
  VkAccessFlags result = static_cast<VkAccessFlags>(accesses & 0x7fffffffU);
  if (accesses & VK_ACCESS_2_SHADER_STORAGE_READ_BIT) result |= VK_ACCESS_SHADER_READ_BIT;
  if (accesses & VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT) result |= VK_ACCESS_SHADER_WRITE_BIT;
  return result;
}

}  // namespace

void barrier(const DeviceHandle& device, VkCommandBuffer commands, Stage from, Stage to) noexcept {
  const Scope source = scope_of(from);
  const Scope target = scope_of(to);
  if (device.synchronization2()) {
    VkMemoryBarrier2 memory = vk_struct<VkMemoryBarrier2>(VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
    memory.srcStageMask = source.stages;
    memory.srcAccessMask = source.writes;
    memory.dstStageMask = target.stages;
    memory.dstAccessMask = target.accesses;
    VkDependencyInfo info = vk_struct<VkDependencyInfo>(VK_STRUCTURE_TYPE_DEPENDENCY_INFO);
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &memory;
    device.api().vkCmdPipelineBarrier2(commands, &info);
    return;
  }
  VkMemoryBarrier memory = vk_struct<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  memory.srcAccessMask = access1(source.writes);
  memory.dstAccessMask = access1(target.accesses);
  device.api().vkCmdPipelineBarrier(commands, static_cast<VkPipelineStageFlags>(source.stages),
                                    static_cast<VkPipelineStageFlags>(target.stages), 0, 1, &memory,
                                    0, nullptr, 0, nullptr);
}

void write_timestamp(const DeviceHandle& device, VkCommandBuffer commands, Stage stage,
                     VkQueryPool pool, std::uint32_t query) noexcept {
  const VkPipelineStageFlags2 stages =
      stage == Stage::none ? VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT : scope_of(stage).stages;
  if (device.synchronization2())
    device.api().vkCmdWriteTimestamp2(commands, stages, pool, query);
  else
    device.api().vkCmdWriteTimestamp(commands, static_cast<VkPipelineStageFlagBits>(stages), pool,
                                     query);
}

VkResult Submitter::submit(const DeviceHandle& device, VkQueue queue,
                           std::span<const Batch> batches) {
  return device.synchronization2() ? submit2(device, queue, batches)
                                   : submit1(device, queue, batches);
}

VkResult Submitter::submit2(const DeviceHandle& device, VkQueue queue,
                            std::span<const Batch> batches) {
  infos2_.clear();
  semaphores2_.clear();
  commands2_.clear();
  // Two passes: the arrays may move while they grow, so pointers into them come last.
  for (const Batch& batch : batches) {
    for (const SemaphoreValue& point : batch.waits)
      semaphores2_.push_back({VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, point.semaphore,
                              point.value, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0});
    if (batch.signal.semaphore)
      semaphores2_.push_back({VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr,
                              batch.signal.semaphore, batch.signal.value,
                              VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0});
    for (VkCommandBuffer commands : batch.commands)
      commands2_.push_back({VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, commands, 0});
  }
  const VkSemaphoreSubmitInfo* semaphore = semaphores2_.data();
  const VkCommandBufferSubmitInfo* commands = commands2_.data();
  for (const Batch& batch : batches) {
    VkSubmitInfo2 info = vk_struct<VkSubmitInfo2>(VK_STRUCTURE_TYPE_SUBMIT_INFO_2);
    info.waitSemaphoreInfoCount = static_cast<std::uint32_t>(batch.waits.size());
    info.pWaitSemaphoreInfos = semaphore;
    semaphore += batch.waits.size();
    info.commandBufferInfoCount = static_cast<std::uint32_t>(batch.commands.size());
    info.pCommandBufferInfos = commands;
    commands += batch.commands.size();
    info.signalSemaphoreInfoCount = batch.signal.semaphore ? 1 : 0;
    info.pSignalSemaphoreInfos = semaphore;
    semaphore += info.signalSemaphoreInfoCount;
    infos2_.push_back(info);
  }
  return device.api().vkQueueSubmit2(queue, static_cast<std::uint32_t>(infos2_.size()),
                                     infos2_.data(), VK_NULL_HANDLE);
}

VkResult Submitter::submit1(const DeviceHandle& device, VkQueue queue,
                            std::span<const Batch> batches) {
  infos1_.clear();
  timelines1_.clear();
  semaphores1_.clear();
  values1_.clear();
  stages1_.clear();
  for (const Batch& batch : batches) {
    for (const SemaphoreValue& point : batch.waits) {
      semaphores1_.push_back(point.semaphore);
      values1_.push_back(point.value);
    }
    semaphores1_.push_back(batch.signal.semaphore);
    values1_.push_back(batch.signal.value);
    if (stages1_.size() < batch.waits.size())
      stages1_.resize(batch.waits.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  }
  timelines1_.reserve(batches.size());
  std::size_t first = 0;
  for (const Batch& batch : batches) {
    const auto waits = static_cast<std::uint32_t>(batch.waits.size());
    const std::uint32_t signals = batch.signal.semaphore ? 1 : 0;
    timelines1_.push_back({VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, waits,
                           values1_.data() + first, signals, values1_.data() + first + waits});
    VkSubmitInfo info = vk_struct<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &timelines1_.back();
    info.waitSemaphoreCount = waits;
    info.pWaitSemaphores = semaphores1_.data() + first;
    info.pWaitDstStageMask = stages1_.data();
    info.commandBufferCount = static_cast<std::uint32_t>(batch.commands.size());
    info.pCommandBuffers = batch.commands.data();
    info.signalSemaphoreCount = signals;
    info.pSignalSemaphores = semaphores1_.data() + first + waits;
    infos1_.push_back(info);
    first += waits + 1;
  }
  return device.api().vkQueueSubmit(queue, static_cast<std::uint32_t>(infos1_.size()),
                                    infos1_.data(), VK_NULL_HANDLE);
}

}  // namespace stoker::device::vulkan
