// The process may exit at any moment: the driver is not called once it has cleaned up after itself.
#include <atomic>
#include <cstdlib>
#include <semaphore>
#include <thread>

#include "fixture.hpp"
#include "stoker/runtime/base/exit_watch.hpp"

namespace stoker::device::vulkan::testing {
namespace {

class Exit : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// How vkDestroyDevice tells of itself, and what it waits for.
std::binary_semaphore destroying{0};
std::binary_semaphore leaving{0};
std::atomic<bool> destroyed{false};
PFN_vkDestroyDevice destroy_device = nullptr;
VKAPI_ATTR void VKAPI_CALL destroy_during_exit(VkDevice device,
                                               const VkAllocationCallbacks* memory) {
  destroying.release();
  leaving.acquire();
  destroy_device(device, memory);
  destroyed = true;
}

void filter_destruction(VulkanApi& api) {
  if (!api.vkDestroyDevice || api.vkDestroyDevice == &destroy_during_exit) return;
  destroy_device = api.vkDestroyDevice;
  api.vkDestroyDevice = &destroy_during_exit;
}

/// The first device, opened by a process that has not loaded the driver yet; ends it where there is
/// none.
std::unique_ptr<OpenDevice> open_first(DriverOptions driver = {}) {
  std::string why;
  auto device = OpenDevice::open(why, {}, std::move(driver));
  if (!device) std::_Exit(0);
  return device;
}

// A system ends on its own threads, and may not be done when the program is.
TEST_F(Exit, waits_for_the_end_of_a_device_before_older_handlers_run) {
  EXPECT_EXIT(
      {
        // As a driver would, which is loaded before the first device.
        std::atexit([] { std::_Exit(destroyed ? 0 : 1); });
        const auto device = open_first({default_library_names(), filter_destruction});
        std::thread{[&] { device->close(); }}.detach();
        destroying.acquire();
        const ExitWatch watch{[] { leaving.release(); }};
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, leaves_memory_that_outlives_its_device_as_it_is) {
  EXPECT_EXIT(
      {
        static std::unique_ptr<MemoryBlock> late;
        std::atexit([] {
          late.reset();
          std::_Exit(destroyed ? 1 : 0);
        });
        const auto device = open_first({default_library_names(), filter_destruction});
        late = device->backend().allocate(4000, MemoryKind::device).value();
        device->close();
        leaving.release();  // nobody may ask for it
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

/// The value that the thread which exits has waited for.
std::atomic<std::thread::id> exiting_thread;
std::uint64_t waited_for = 0;
PFN_vkWaitSemaphores wait_semaphores = nullptr;
VKAPI_ATTR VkResult VKAPI_CALL note_wait(VkDevice device, const VkSemaphoreWaitInfo* info,
                                         std::uint64_t timeout) {
  if (std::this_thread::get_id() == exiting_thread) waited_for = info->pValues[0];
  return wait_semaphores(device, info, timeout);
}

void filter_waits(VulkanApi& api) {
  if (!api.vkWaitSemaphores || api.vkWaitSemaphores == &note_wait) return;
  wait_semaphores = api.vkWaitSemaphores;
  api.vkWaitSemaphores = &note_wait;
}

// Its threads compile and compute with objects that the driver's own handlers destroy.
TEST_F(Exit, waits_for_what_a_software_device_has_in_flight) {
  EXPECT_EXIT(
      {
        static std::uint64_t submitted = 0;
        std::atexit([] { std::_Exit(waited_for == submitted ? 0 : 1); });
        const auto device = open_first({default_library_names(), filter_waits});
        if (device->backend().info().type != DeviceType::software_gpu) std::_Exit(0);
        const auto slow = device->prepare(slow_kernel(15'000), 10'000);
        const auto x = device->filled<float>(std::vector<float>(10'000, 0.0F));
        const auto y = device->backend().allocate(40'000, MemoryKind::readback).value();
        const std::vector steps{dispatch_step(slow, whole(x), whole(y))};
        Submission submission;
        submission.steps = steps;
        submitted = device->submit(submission);
        exiting_thread = std::this_thread::get_id();
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, refuses_what_is_asked_of_a_device_from_then_on) {
  EXPECT_EXIT(
      {
        static Backend* late = nullptr;
        std::atexit([] {
          const auto refused = late->allocate(4000, MemoryKind::device);
          std::_Exit(refused || refused.error().code() != ErrorCode::closed ? 1 : 0);
        });
        const auto device = open_first();
        late = &device->backend();
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
