// A device with a transfer queue, made of one that has none: lavapipe's only queue is shown as two
// families. The order between the queues then rests on the semaphores alone, as it does on a GPU.
#include <algorithm>
#include <utility>

#include "fixture.hpp"

namespace stoker::device::vulkan::testing {
namespace {

struct TwoFamilies {
  static DriverOptions driver() { return {default_library_names(), install}; }

 private:
  static inline PFN_vkGetPhysicalDeviceQueueFamilyProperties families = nullptr;
  static inline PFN_vkCreateDevice create_device = nullptr;
  static inline PFN_vkGetDeviceQueue get_queue = nullptr;
  static inline PFN_vkCreateCommandPool create_pool = nullptr;
  static inline PFN_vkCreateBuffer create_buffer = nullptr;

  static void install(VulkanApi& api) {
    if (api.vkCreateDevice && api.vkCreateDevice != on_create_device) {
      create_device = std::exchange(api.vkCreateDevice, on_create_device);
      families = std::exchange(api.vkGetPhysicalDeviceQueueFamilyProperties, on_families);
    }
    if (api.vkCreateBuffer && api.vkCreateBuffer != on_create_buffer) {
      get_queue = std::exchange(api.vkGetDeviceQueue, on_get_queue);
      create_pool = std::exchange(api.vkCreateCommandPool, on_create_pool);
      create_buffer = std::exchange(api.vkCreateBuffer, on_create_buffer);
    }
  }
  static void VKAPI_CALL on_families(VkPhysicalDevice device, std::uint32_t* count,
                                     VkQueueFamilyProperties* out) {
    if (out) {
      std::uint32_t one = 1;
      families(device, &one, out);
      out[1] = out[0];
      out[1].queueFlags = VK_QUEUE_TRANSFER_BIT;
    }
    *count = 2;
  }
  static VkResult VKAPI_CALL on_create_device(VkPhysicalDevice device,
                                              const VkDeviceCreateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkDevice* out) {
    EXPECT_EQ(info->queueCreateInfoCount, 2U);
    VkDeviceCreateInfo one = *info;
    one.queueCreateInfoCount = 1;
    return create_device(device, &one, allocator, out);
  }
  static void VKAPI_CALL on_get_queue(VkDevice device, std::uint32_t, std::uint32_t index,
                                      VkQueue* out) {
    get_queue(device, 0, index, out);
  }
  static VkResult VKAPI_CALL on_create_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkCommandPool* out) {
    VkCommandPoolCreateInfo first = *info;
    first.queueFamilyIndex = 0;
    return create_pool(device, &first, allocator, out);
  }
  static VkResult VKAPI_CALL on_create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkBuffer* out) {
    EXPECT_EQ(info->sharingMode, VK_SHARING_MODE_CONCURRENT);
    VkBufferCreateInfo own = *info;
    own.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    own.queueFamilyIndexCount = 0;
    return create_buffer(device, &own, allocator, out);
  }
};

class TransferQueue : public VulkanTest {
 protected:
  [[nodiscard]] OpenOptions options() const override { return {}; }
  [[nodiscard]] DriverOptions driver_options() const override { return TwoFamilies::driver(); }
};

TEST_F(TransferQueue, is_found) { EXPECT_TRUE(device_->backend().info().has_transfer_queue); }

TEST_F(TransferQueue, work_on_one_queue_waits_for_the_other) {
  const auto executable = device_->prepare(affine_kernel(), 1000);
  const auto a = device_->filled<float>(std::vector<float>(1000, 1.0F));
  const auto b = device_->backend().allocate(4000, MemoryKind::device).value();
  const std::vector compute{dispatch_step(executable, whole(a), whole(b))};
  const std::vector transfer{copy_step(whole(b), whole(a))};
  QueuePoint last;
  QueuePoint before;
  for (int i = 0; i < 20; ++i) {
    before = last;
    Submission submission;
    submission.queue = i % 2 == 0 ? QueueKind::compute : QueueKind::transfer;
    submission.steps = i % 2 == 0 ? compute : transfer;
    if (i > 0) submission.waits = {&before, 1};
    last = {submission.queue, device_->submit(submission)};
  }
  ASSERT_TRUE(device_->wait(last));
  // The other queue is done, too, but uses the executable until it has reported that.
  ASSERT_TRUE(device_->wait(before));
  EXPECT_EQ(values_of<float>(a), std::vector<float>(1000, 2047.0F));
}

TEST_F(TransferQueue, each_queue_reports_in_its_own_order) {
  for (int i = 0; i < 30; ++i) {
    Submission submission;
    submission.queue = i % 3 == 0 ? QueueKind::compute : QueueKind::transfer;
    device_->submit(submission);
  }
  ASSERT_TRUE(device_->sink().await({QueueKind::compute, 10}));
  ASSERT_TRUE(device_->sink().await({QueueKind::transfer, 20}));
  std::uint64_t last[queue_kinds] = {};
  for (const QueuePoint& point : device_->sink().order()) {
    std::uint64_t& before = last[static_cast<std::size_t>(point.queue)];
    EXPECT_EQ(point.value, before + 1);
    before = point.value;
  }
}

TEST_F(TransferQueue, replays_copies) {
  const auto a = device_->filled<float>(std::vector<float>(1000, 5.0F));
  const auto b = device_->backend().allocate(4000, MemoryKind::readback).value();
  const auto recording =
      device_->backend().record(std::vector{copy_step(whole(a), whole(b))}).value();
  Submission submission;
  submission.queue = QueueKind::transfer;
  submission.recording = recording.get();
  ASSERT_TRUE(device_->wait({QueueKind::transfer, device_->submit(submission)}));
  EXPECT_EQ(values_of<float>(b), values_of<float>(a));
}

class NoTransferQueue : public VulkanTest {};

TEST_F(NoTransferQueue, is_said) {
  if (device_->backend().info().has_transfer_queue) GTEST_SKIP() << "this device has one";
  const auto refused = device_->backend().submit({QueueKind::transfer, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
