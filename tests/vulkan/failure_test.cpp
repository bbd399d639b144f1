// Every Vulkan call fails once: the host survives, errors come back as values, and nobody who waits
// is left waiting.
#include <algorithm>
#include <vector>

#include "fixture.hpp"
#include "intercept.hpp"

namespace stoker::device::vulkan::testing {
namespace {

struct Outcome {
  bool opened = false;
  bool hung = false;     ///< somebody waited in vain
  bool correct = false;  ///< everything succeeded and the result is right
  int losses = 0;
  std::optional<Error> first_error;
};

/// A device's life: open, allocate, compute, record, replay, read, close. Goes on after errors as
/// far as it can, as a host would.
class Life {
 public:
  explicit Life(OpenOptions options = {}) : options_{std::move(options)} {}

  Outcome run() {
    auto driver = make_driver({default_library_names(), fault_filter()});
    if (!driver->devices().empty()) {
      auto opened = driver->open(0, sink_, options_);
      outcome_.opened = note(opened);
      if (opened) {
        backend_ = std::move(*opened);
        work();
        backend_.reset();
      }
    }
    static_cast<void>(driver->diagnose());
    outcome_.losses = sink_.losses();
    return outcome_;
  }

 private:
  template <class T> bool note(const Result<T>& result) {
    if (!result && !outcome_.first_error) outcome_.first_error = result.error();
    return result.has_value();
  }

  void work() {
    auto x = backend_->allocate(4000, MemoryKind::readback);
    auto y = backend_->allocate(4000, MemoryKind::device);
    auto z = backend_->allocate(4000, MemoryKind::readback);
    auto prepared = prepare();
    const bool all = note(x) && note(y) && note(z) && note(prepared);
    if (!all) return;
    std::vector<Step> steps{
        fill_step(whole(*x), 1.0F), dispatch_step(*prepared, whole(*x), whole(*y), {0}),
        copy_step(whole(*y), whole(*z), {1}), fill_step(part(*x, 1, 2), std::uint8_t{7}, {1})};
    Submission once;
    once.steps = steps;
    bool fine = go(once);
    once.timed = true;
    fine = go(once) && fine;
    auto recording = backend_->record(steps);
    if (!note(recording)) return;
    Submission replay;
    replay.recording = recording->get();
    for (int i = 0; i < 3; ++i) fine = go(replay) && fine;
    outcome_.correct = fine && values_of<float>(*z) == std::vector<float>(1000, 3.0F);
  }

  Result<std::shared_ptr<const Executable>> prepare() {
    static const auto kernel = std::make_shared<const Kernel>(affine_kernel());
    const TensorSpec spec{DType::f32, Shape{1000}};
    const ParamSet params;
    return backend_->prepare(kernel, {{&spec, 1}, params}, {&spec, 1});
  }

  bool go(Submission submission) {
    const QueuePoint before{QueueKind::compute, last_};
    if (last_) submission.waits = {&before, 1};
    submission.value = last_ + 1;
    if (!note(backend_->submit(submission))) return false;
    ++last_;
    // The report must come by itself: as a completion or as the loss.
    const bool done = sink_.await({QueueKind::compute, last_});
    outcome_.hung = outcome_.hung || (!done && sink_.losses() == 0);
    return done;
  }

  const OpenOptions options_;
  RecordingSink sink_;
  std::unique_ptr<Backend> backend_;
  std::uint64_t last_ = 0;
  Outcome outcome_;
};

class VulkanFailure : public ::testing::Test {
 protected:
  void SetUp() override {
    Faults::instance().reset();
    if (make_driver()->devices().empty()) GTEST_SKIP() << "no Vulkan device here";
  }
  void TearDown() override { Faults::instance().reset(); }

  /// Every call of the life, up to `most` of each function, fails with `result`.
  template <class Check> void fail_each(VkResult result, int most, Check&& check) {
    Faults::instance().reset();
    ASSERT_TRUE(Life{}.run().correct);
    for (const auto& [function, count] : Faults::instance().calls())
      for (int index = 0; index < std::min(count, most); ++index) {
        SCOPED_TRACE(function + " call " + std::to_string(index));
        Faults::instance().fail(function, index, result);
        const Outcome outcome = Life{}.run();
        EXPECT_FALSE(outcome.hung);
        EXPECT_LE(outcome.losses, 1);
        check(function, outcome);
      }
  }
};

TEST_F(VulkanFailure, without_faults_the_life_succeeds) {
  const Outcome outcome = Life{}.run();
  EXPECT_TRUE(outcome.correct) << (outcome.first_error ? outcome.first_error->what() : "no error");
}

TEST_F(VulkanFailure, any_call_may_run_out_of_host_memory) {
  fail_each(VK_ERROR_OUT_OF_HOST_MEMORY, 8, [](const std::string&, const Outcome& outcome) {
    EXPECT_EQ(outcome.losses, 0);
    // Where the failure could not be worked round, it came back as an error, and as the right one.
    EXPECT_TRUE(outcome.correct || outcome.first_error || !outcome.opened);
    if (outcome.first_error) {
      EXPECT_EQ(outcome.first_error->code(), ErrorCode::out_of_memory);
    }
  });
}

TEST_F(VulkanFailure, any_call_may_lose_the_device) {
  fail_each(VK_ERROR_DEVICE_LOST, 8, [](const std::string&, const Outcome& outcome) {
    EXPECT_TRUE(outcome.correct || outcome.first_error || outcome.losses == 1 || !outcome.opened);
    if (outcome.first_error) {
      EXPECT_EQ(outcome.first_error->code(), ErrorCode::device_lost);
    }
  });
}

TEST_F(VulkanFailure, any_call_may_fail_with_a_code_nobody_knows) {
  fail_each(static_cast<VkResult>(-1000'000'123), 2,
            [](const std::string&, const Outcome& outcome) {
              EXPECT_TRUE(outcome.correct || outcome.first_error || !outcome.opened);
            });
}

class LostDevice : public VulkanFailure {
 protected:
  /// Loses the device at one call of `function`. Only one: the device under the fault is healthy, and
  /// its answer to the backend's last question ("is your work over?") keeps memory alive till then.
  static Outcome lose_at(const char* function, int index) {
    Faults::instance().fail(function, index, VK_ERROR_DEVICE_LOST);
    return Life{}.run();
  }
};

TEST_F(LostDevice, at_submit_is_told_once_and_returned) {
  const Outcome outcome = lose_at("vkQueueSubmit2", 1);
  EXPECT_EQ(outcome.losses, 1);
  ASSERT_TRUE(outcome.first_error);
  EXPECT_EQ(outcome.first_error->code(), ErrorCode::device_lost);
}

TEST_F(LostDevice, while_waiting_is_told_once) {
  EXPECT_EQ(lose_at("vkWaitSemaphores", 0).losses, 1);
  EXPECT_EQ(lose_at("vkGetSemaphoreCounterValue", 2).losses, 1);
}

TEST_F(LostDevice, at_map_is_told_once) { EXPECT_EQ(lose_at("vkMapMemory", 0).losses, 1); }

TEST_F(LostDevice, the_error_names_device_driver_call_and_last_kernels) {
  Faults::instance().fail("vkGetSemaphoreCounterValue", 0, VK_ERROR_DEVICE_LOST, true);
  std::string why;
  auto device = OpenDevice::open(why, {}, {default_library_names(), fault_filter()});
  ASSERT_TRUE(device) << why;
  // The thread that watches has met the failure already, or meets it now.
  static_cast<void>(device->backend().submit({QueueKind::compute, 1}));
  EXPECT_FALSE(device->sink().await({QueueKind::compute, 1}));
  ASSERT_TRUE(device->sink().loss());
  const Error loss = *device->sink().loss();
  EXPECT_EQ(loss.code(), ErrorCode::device_lost);
  EXPECT_EQ(loss.detail("device"), device->backend().info().name);
  EXPECT_EQ(loss.detail("driver"), device->backend().info().driver);
  EXPECT_EQ(loss.detail("function"), "vkGetSemaphoreCounterValue");
  EXPECT_EQ(loss.detail("result"), "VK_ERROR_DEVICE_LOST");
}

TEST_F(LostDevice, every_later_call_says_so) {
  Faults::instance().fail("vkQueueSubmit2", 0, VK_ERROR_DEVICE_LOST);
  std::string why;
  auto device = OpenDevice::open(why, {}, {default_library_names(), fault_filter()});
  ASSERT_TRUE(device) << why;
  Backend& backend = device->backend();
  EXPECT_FALSE(backend.submit({QueueKind::compute, 1}));
  EXPECT_EQ(backend.submit({QueueKind::compute, 2}).error().code(), ErrorCode::device_lost);
  EXPECT_EQ(backend.allocate(10, MemoryKind::device).error().code(), ErrorCode::device_lost);
  EXPECT_EQ(backend.record({}).error().code(), ErrorCode::device_lost);
  EXPECT_FALSE(device->wait({QueueKind::compute, 1}));
  EXPECT_EQ(device->sink().losses(), 1);
}

TEST_F(VulkanFailure, out_of_memory_names_the_numbers_and_leaves_the_device_working) {
  std::string why;
  auto device = OpenDevice::open(why, {}, {default_library_names(), fault_filter()});
  ASSERT_TRUE(device) << why;
  Faults::instance().fail("vkAllocateMemory", 0, VK_ERROR_OUT_OF_DEVICE_MEMORY, true);
  const auto refused = device->backend().allocate(12345, MemoryKind::device);
  Faults::instance().reset();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().detail("requested"), "12345");
  EXPECT_FALSE(refused.error().detail("limit").empty());
  EXPECT_EQ(refused.error().detail("in_use"), "0");
  EXPECT_TRUE(device->backend().allocate(12345, MemoryKind::device));
}

/// A device that allows two allocations.
struct FewAllocations {
  static inline PFN_vkGetPhysicalDeviceProperties2 real = nullptr;
  static VKAPI_ATTR void VKAPI_CALL call(VkPhysicalDevice device,
                                         VkPhysicalDeviceProperties2* properties) {
    real(device, properties);
    properties->properties.limits.maxMemoryAllocationCount = 2;
  }
  static void install(VulkanApi& api) {
    auto& entry = api.vkGetPhysicalDeviceProperties2;
    if (!entry || entry == &call) return;
    real = entry;
    entry = &call;
  }
};

TEST_F(VulkanFailure, more_allocations_than_the_device_allows_are_out_of_memory) {
  std::string why;
  auto device = OpenDevice::open(why, {}, {default_library_names(), &FewAllocations::install});
  ASSERT_TRUE(device) << why;
  auto first = device->backend().allocate(64, MemoryKind::device);
  const auto second = device->backend().allocate(64, MemoryKind::device);
  const auto refused = device->backend().allocate(64, MemoryKind::device);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().detail("which_limit"), "maxMemoryAllocationCount");
  first = Error{};  // one goes, and another may come
  EXPECT_TRUE(device->backend().allocate(64, MemoryKind::device));
}

TEST_F(VulkanFailure, too_many_objects_are_a_lack_of_memory_that_may_pass) {
  std::string why;
  auto device = OpenDevice::open(why, {}, {default_library_names(), fault_filter()});
  ASSERT_TRUE(device) << why;
  Faults::instance().fail("vkAllocateMemory", 0, VK_ERROR_TOO_MANY_OBJECTS, true);
  const auto refused = device->backend().allocate(64, MemoryKind::device);
  Faults::instance().reset();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::out_of_memory);
}

TEST_F(VulkanFailure, a_missing_loader_is_an_empty_driver_with_a_reason) {
  const auto driver = make_driver({{"libnothing-of-this-name.so"}, {}});
  EXPECT_TRUE(driver->devices().empty());
  const auto diagnosis = driver->diagnose();
  ASSERT_EQ(diagnosis.size(), 1U);
  EXPECT_FALSE(diagnosis[0].accepted);
  EXPECT_NE(diagnosis[0].reason.find("libnothing-of-this-name.so"), std::string::npos);
  RecordingSink sink;
  EXPECT_FALSE(driver->open(0, sink, {}));
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
