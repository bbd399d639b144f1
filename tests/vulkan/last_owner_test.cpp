// A device's last owner may let go of it inside a report: the device then ends on its own thread.
#include <chrono>
#include <semaphore>
#include <thread>

#include "fixture.hpp"
#include "intercept.hpp"
#include "stoker/device/vulkan/exit_watch.hpp"
#include "stoker/runtime/log.hpp"

namespace stoker::device::vulkan::testing {
namespace {

constexpr auto for_ever = std::chrono::minutes{1};

/// Owns a device, as a shell does. The first report lasts until nobody else owns this.
class Owner final : public CompletionSink, public std::enable_shared_from_this<Owner> {
 public:
  struct Signals {
    std::binary_semaphore told{0};
    std::binary_semaphore alone{0};
    std::binary_semaphore gone{0};
    std::thread::id ended_by;
    int reports = 0;
  };
  explicit Owner(std::shared_ptr<Signals> signals) : signals_{std::move(signals)} {}
  ~Owner() {
    signals_->ended_by = std::this_thread::get_id();
    backend.reset();
    signals_->gone.release();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  void on_completed(Completion) noexcept override { told(); }
  void on_lost(Error) noexcept override { told(); }

  std::shared_ptr<Backend> backend;

 private:
  void told() noexcept {
    const auto self = weak_from_this().lock();
    ASSERT_TRUE(self) << "told after its end";
    ++signals_->reports;
    signals_->told.release();
    EXPECT_TRUE(signals_->alone.try_acquire_for(for_ever));
  }

  const std::shared_ptr<Signals> signals_;
};

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

class LastOwner : public ::testing::Test {
 protected:
  void SetUp() override {
    Faults::instance().reset();
    if (make_driver()->devices().empty()) GTEST_SKIP() << "no Vulkan device here";
    driver = make_driver({default_library_names(), watching_filter()});
  }
  void TearDown() override {
    Faults::instance().reset();
    if (log) {
      EXPECT_EQ(log->lines(), std::vector<std::string>{});
    }
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
  /// Leaves the device to its own thread.
  void let_go() {
    EXPECT_TRUE(signals->told.try_acquire_for(for_ever));
    owner.reset();
    signals->alone.release();
    EXPECT_TRUE(signals->gone.try_acquire_for(for_ever));
    EXPECT_NE(signals->ended_by, std::this_thread::get_id());
    EXPECT_EQ(signals->reports, 1);
  }
  static void await_destruction() { EXPECT_TRUE(devices_destroyed.try_acquire_for(for_ever)); }

  std::unique_ptr<Driver> driver;
  std::shared_ptr<Owner::Signals> signals = std::make_shared<Owner::Signals>();
  std::shared_ptr<Owner> owner = std::make_shared<Owner>(signals);
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

class Exit : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(Exit, waits_for_whoever_delays_it_before_older_handlers_run) {
  EXPECT_EXIT(
      {
        static std::binary_semaphore delayed{0};
        static std::binary_semaphore leaving{0};
        static std::atomic<bool> over{false};
        // As a driver would, which is loaded before the first watch.
        std::atexit([] { std::_Exit(over ? 0 : 1); });
        const ExitWatch watch{[] { leaving.release(); }};
        std::thread{[] {
          const ExitDelay delay;
          delayed.release();
          leaving.acquire();
          over = true;
        }}.detach();
        delayed.acquire();
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, cannot_be_delayed_once_it_has_begun) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(ExitDelay{}.too_late() ? 0 : 1); });
        const ExitWatch watch{[] {}};
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
