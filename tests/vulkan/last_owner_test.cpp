// A device's last owner may let go of it inside a report: the device then ends on its own thread.
#include <chrono>
#include <semaphore>
#include <thread>

#include "fixture.hpp"
#include "intercept.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/device/owner.hpp"

namespace stoker::device::vulkan::testing {
namespace {

constexpr auto for_ever = std::chrono::minutes{1};

/// Says when the driver has destroyed a device.
std::counting_semaphore<> devices_destroyed{0};
PFN_vkDestroyDevice destroy_device = nullptr;
VKAPI_ATTR void VKAPI_CALL note_destruction(VkDevice device, const VkAllocationCallbacks* memory) {
  destroy_device(device, memory);
  devices_destroyed.release();
}

ApiFilter watching_filter() {
  return [](VulkanApi& api) {
    fault_filter()(api);
    if (!api.vkDestroyDevice || api.vkDestroyDevice == &note_destruction) return;
    destroy_device = api.vkDestroyDevice;
    api.vkDestroyDevice = &note_destruction;
  };
}

class LastOwner : public ::testing::Test, public LettingGo {
 protected:
  void SetUp() override {
    Faults::instance().reset();
    if (make_driver()->devices().empty()) GTEST_SKIP() << "no Vulkan device here";
    driver = make_driver({default_library_names(), watching_filter()});
  }
  void TearDown() override {
    Faults::instance().reset();
    if (!log) return;
    std::vector<std::string> lines = log->lines();
    std::erase_if(lines, [](const std::string& line) {  // on a machine without the layers
      return line.find("was asked for but is not installed") != std::string::npos;
    });
    EXPECT_EQ(lines, std::vector<std::string>{});
  }

  void open() {
    OpenOptions options;
    options.validation = true;
    static_cast<void>(driver->devices());
    log.emplace(LogLevel::warn);  // what the validation layers have to say, up to the very end
    owner->backend = driver->open(0, *owner, options).value();
  }
  std::unique_ptr<MemoryBlock> block() {
    return owner->backend->allocate(4000, MemoryKind::device).value();
  }
  void submit(std::uint64_t value, const Step& step) {
    const QueuePoint before{QueueKind::compute, value - 1};
    EXPECT_TRUE(owner->backend->submit({QueueKind::compute, value, {&before, 1}, {&step, 1}}));
  }
  static void await_destruction() { EXPECT_TRUE(devices_destroyed.try_acquire_for(for_ever)); }

  std::unique_ptr<Driver> driver;
  std::optional<LogCapture> log;
};

TEST_F(LastOwner, may_let_go_inside_a_completion) {
  open();
  {
    const auto x = block(), y = block();
    submit(1, copy_step(whole(x), whole(y)));
    let_go();
  }
  await_destruction();
}

TEST_F(LastOwner, may_let_go_inside_the_loss) {
  Faults::instance().fail("vkWaitSemaphores", 0, VK_ERROR_DEVICE_LOST);
  open();
  let_go();
  await_destruction();
}

TEST_F(LastOwner, waits_for_work_behind_the_completion_and_hears_no_more_of_it) {
  open();
  {
    const auto x = block(), y = block();
    const TensorSpec spec{DType::f32, Shape{1000}};
    const ParamSet params;
    const auto slow = owner->backend->prepare(std::make_shared<const Kernel>(slow_kernel(1 << 20)),
                                              {{&spec, 1}, params}, {&spec, 1});
    submit(1, copy_step(whole(x), whole(y)));
    submit(2, dispatch_step(slow.value(), whole(x), whole(y)));
    submit(3, fill_step(whole(y), 1.0F));
    let_go();
  }
  await_destruction();
}

TEST_F(LastOwner, may_be_followed_by_the_end_of_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        open();
        static_cast<void>(owner->backend->submit({QueueKind::compute, 1}));
        let_go();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
