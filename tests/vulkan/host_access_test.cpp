// Memory that is mapped may be read or written by the host once a submission is complete. A semaphore
// orders that for the device only, so the submission ends with a barrier towards the host.
#include <utility>

#include "fixture.hpp"

namespace stoker::device::vulkan::testing {
namespace {

/// What the last barrier before the end of a command buffer reaches to.
struct LastBarrier {
  static inline VkPipelineStageFlags2 stages = 0;
  static inline VkAccessFlags2 accesses = 0;

  static DriverOptions driver() { return {default_library_names(), install}; }
  static void reset() { stages = accesses = 0; }

 private:
  static inline PFN_vkCmdPipelineBarrier one = nullptr;
  static inline PFN_vkCmdPipelineBarrier2 two = nullptr;

  static void install(VulkanApi& api) {
    if (api.vkCmdPipelineBarrier && api.vkCmdPipelineBarrier != on_one)
      one = std::exchange(api.vkCmdPipelineBarrier, on_one);
    if (api.vkCmdPipelineBarrier2 && api.vkCmdPipelineBarrier2 != on_two)
      two = std::exchange(api.vkCmdPipelineBarrier2, on_two);
  }
  static void VKAPI_CALL on_one(VkCommandBuffer commands, VkPipelineStageFlags from,
                                VkPipelineStageFlags to, VkDependencyFlags flags,
                                std::uint32_t count, const VkMemoryBarrier* barriers,
                                std::uint32_t buffer_count, const VkBufferMemoryBarrier* buffers,
                                std::uint32_t image_count, const VkImageMemoryBarrier* images) {
    stages = to;
    accesses = count > 0 ? barriers[0].dstAccessMask : 0;
    one(commands, from, to, flags, count, barriers, buffer_count, buffers, image_count, images);
  }
  static void VKAPI_CALL on_two(VkCommandBuffer commands, const VkDependencyInfo* info) {
    stages = info->memoryBarrierCount > 0 ? info->pMemoryBarriers[0].dstStageMask : 0;
    accesses = info->memoryBarrierCount > 0 ? info->pMemoryBarriers[0].dstAccessMask : 0;
    two(commands, info);
  }
};

class HostAccess : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    LastBarrier::reset();
  }
  [[nodiscard]] DriverOptions driver_options() const override { return LastBarrier::driver(); }
  static void expect_for_host() {
    EXPECT_TRUE(LastBarrier::stages & VK_PIPELINE_STAGE_2_HOST_BIT);
    EXPECT_TRUE(LastBarrier::accesses & VK_ACCESS_2_HOST_READ_BIT);
    EXPECT_TRUE(LastBarrier::accesses & VK_ACCESS_2_HOST_WRITE_BIT);
  }
};

TEST_F(HostAccess, comes_after_what_the_device_wrote_to_be_read) {
  const auto block = device_->backend().allocate(1024, MemoryKind::readback).value();
  device_->run(std::vector{fill_step<std::uint32_t>(whole(block), 1)});
  expect_for_host();
}

TEST_F(HostAccess, comes_after_what_the_device_wrote_into_mapped_memory_of_its_own) {
  const auto block = device_->backend().allocate(1024, MemoryKind::device).value();
  device_->run(std::vector{fill_step<std::uint32_t>(whole(block), 1)});
  if (!block->host) {
    EXPECT_FALSE(LastBarrier::stages & VK_PIPELINE_STAGE_2_HOST_BIT) << "nobody can touch it";
    return;
  }
  expect_for_host();
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
