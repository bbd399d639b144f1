// A lost device comes back: its supervisor opens it again, the same handles work, and what was only on
// the device is reported lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

/// Moves time from timer to timer until `done`. Time stands still while no timer is armed: threads that
/// get no processor for a while must not find that a year has passed.
template <typename Done> void pass_time(ManualClock& clock, const Done& done) {
  while (!done()) {
    const auto due = clock.next_due();
    if (due == Clock::time_point::max())
      std::this_thread::yield();
    else
      clock.advance(std::max(due - clock.now(), Clock::duration::zero()));
  }
}

class DeviceRecovery : public testing::TestWithParam<const char*> {
 protected:
  DeviceRecovery() { options.drivers = with_faults(faults); }
  /// Loses the device and waits until it is back.
  void lose_for_a_while(const Device& device, const char* why = "lost on purpose") const {
    const auto lost = device.client()->actor().ended();
    faults.on(device.name()).lose(why);
    lost.wait();
    device.when_ready().get();
  }
  /// The null device computes nothing.
  static bool computes() { return GetParam() != std::string_view{"null"}; }

  Faults faults;
  SystemOptions options;
  LogCapture log;
};

TEST_P(DeviceRecovery, the_same_handle_works_again) {
  const System system{options};
  const Device device = system.device(GetParam());
  lose_for_a_while(device);
  EXPECT_TRUE(device.ready());
  const Buffer x = device.buffer({-1.0F, 2.0F});
  const auto y = device.run("relu", {x}).read<float>().get();
  if (computes()) {
    EXPECT_EQ(y, (std::vector{0.0F, 2.0F}));
  }
  EXPECT_EQ(system.device(GetParam()), device);
  EXPECT_EQ(faults.counters().opens, 2U);
}

TEST_P(DeviceRecovery, kernels_that_the_lost_device_compiled_stay_counted) {
  options.config.cache_dir.clear();  // else the second device finds what the first has compiled
  const System system{options};
  const Device device = system.device(GetParam());
  const auto compiled = [&]() -> std::uint64_t {
    const MetricsSnapshot metrics = system.metrics().snapshot();
    const auto counter = std::ranges::find_if(metrics.counters, [&](const auto& one) {
      return one.name == "stoker_kernels_compiled_total" && one.labels[0].second == device.name();
    });
    EXPECT_NE(counter, metrics.counters.end());
    return counter == metrics.counters.end() ? 0 : counter->value;
  };
  const auto run = [&] {
    static_cast<void>(device.run("relu", {device.buffer({-1.0F})}).read<float>().get());
  };
  EXPECT_EQ(compiled(), 0U);
  run();
  const std::uint64_t once = compiled();
  EXPECT_EQ(once > 0, GetParam() == std::string_view{"vulkan"});
  run();
  EXPECT_EQ(compiled(), once);
  lose_for_a_while(device);
  EXPECT_EQ(compiled(), once);
  run();
  EXPECT_EQ(compiled(), 2 * once);
}

TEST_P(DeviceRecovery, buffers_of_the_lost_device_stay_lost_and_are_named) {
  const System system{options};
  const Device device = system.device(GetParam());
  const Buffer one = device.buffer({1.0F});
  const Buffer two = device.buffer({2.0F});
  const auto ended = one.handle().actor().ended();
  lose_for_a_while(device, "unplugged");
  const ExitReason why = ended.get();
  ASSERT_NE(why.error(), nullptr);
  EXPECT_EQ(why.error()->code(), ErrorCode::device_lost);
  try {
    static_cast<void>(device.run("relu", {two}));
    FAIL() << "a lost buffer was used";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost);
    EXPECT_EQ(error.reason(), "unplugged");
    EXPECT_EQ(error.detail("buffer"), std::to_string(two.handle().state()->id));
  }
  EXPECT_THROW(static_cast<void>(one.read<float>()), Error);
  EXPECT_TRUE(log.contains("buffers are lost with their device"));
  EXPECT_TRUE(log.contains(one.handle().actor().name()));
}

TEST_P(DeviceRecovery, a_pipeline_is_compiled_anew) {
  const System system{options};
  const Device device = system.device(GetParam());
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", TensorSpec{DType::f32, Shape{2}});
  pipeline.add("neg", {"x"}, "y");
  pipeline.output("y");
  const auto run = [&] {
    const Buffer x = device.buffer({1.0F, -2.0F});
    const Buffer y = device.buffer(DType::f32, Shape{2});
    pipeline.run({{"x", x}, {"y", y}}).get();
    return y.read<float>().get();
  };
  const auto before = run();
  lose_for_a_while(device);
  const auto after = run();
  if (computes()) {
    EXPECT_EQ(before, (std::vector{-1.0F, 2.0F}));
    EXPECT_EQ(after, before);
  }
}

TEST_P(DeviceRecovery, a_pipeline_says_which_of_its_own_buffers_were_lost) {
  const System system{options};
  const Device device = system.device(GetParam());
  const Buffer own = device.buffer({1.0F, -2.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("neg", {own}, "y");
  pipeline.output("y");
  Pipeline other = system.pipeline(device);
  lose_for_a_while(device, "unplugged");
  const auto code_of = [](const auto& call) {
    try {
      call();
      return ErrorCode::internal;
    } catch (const Error& error) {
      return error.code();
    }
  };
  const Buffer y = device.buffer(DType::f32, Shape{2});
  EXPECT_EQ(code_of([&] { pipeline.run({{"y", y}}); }), ErrorCode::device_lost);
  EXPECT_EQ(code_of([&] { other.add("neg", {own}, "y"); }), ErrorCode::device_lost);
  // One of the new device may have the number of the lost one.
  for (int i = 0; i < 3; ++i)
    pipeline.add("neg", {device.buffer({1.0F, 2.0F})}, "z" + std::to_string(i));
  other.add("neg", {device.buffer({3.0F, 4.0F})}, "y").output("y");
  other.run({{"y", y}}).get();
  if (computes()) {
    EXPECT_EQ(y.read<float>().get(), (std::vector{-3.0F, -4.0F}));
  }
}

TEST_P(DeviceRecovery, it_is_tried_again_when_it_does_not_open) {
  const System system{options};
  const Device device = system.device(GetParam());
  faults.fail_open(2);
  lose_for_a_while(device);
  EXPECT_EQ(faults.counters().opens, 4U);
}

TEST_P(DeviceRecovery, commands_that_were_on_their_way_all_end) {
  options.device_restarts.back_off.most = 10ms;  // ten losses follow each other
  const System system{options};
  for (int round = 0; round < 10; ++round) {
    const Device device = system.device(GetParam());
    device.when_ready().get();
    const Buffer x = device.buffer({1.0F});
    std::vector<Command> commands;
    faults.lose_at_submission(3);
    try {
      for (int i = 0; i < 50; ++i) commands.push_back(device.submit("relu", {x}, x));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    for (const Command& command : commands) {
      const auto outcome = command.wait();
      EXPECT_TRUE(outcome || outcome.error().code() == ErrorCode::device_lost);
    }
    faults.clear();
  }
}

TEST_P(DeviceRecovery, others_keep_serving_meanwhile) {
  const System system{options};
  const Device device = system.device(GetParam());
  const Device other = system.device(GetParam() == std::string_view{"null"} ? "cpu" : "null");
  const Buffer y = other.buffer({1.0F});
  lose_for_a_while(device);
  EXPECT_TRUE(other.submit("relu", {y}, y).wait());
}

TEST_P(DeviceRecovery, a_system_may_stop_at_any_moment_of_it) {
  for (int round = 0; round < 20; ++round) {
    const System system{options};
    const Device device = system.device(GetParam());
    const Buffer x = device.buffer({1.0F});
    faults.lose_at_submission(1 + static_cast<std::uint64_t>(round) % 3);
    try {
      for (int i = 0; i < round; ++i) device.submit("relu", {x}, x);
    } catch (const Error&) {  // it is lost
    }
    if (round % 2) static_cast<void>(device.when_ready());
    if (round % 3 == 0) system.stop();
    faults.clear();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceRecovery, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST(DeviceGivenUp, stays_lost_and_says_so) {
  const Faults faults;
  const LogCapture log;
  SystemOptions options;
  options.drivers = with_faults(faults);
  const auto clock = std::make_shared<ManualClock>();
  options.clock = clock;
  options.stall_limit = 0s;  // the clock below runs ahead of the threads
  options.device_restarts.period = 24h * 365;
  const System system{options};
  const Device device = system.device("null");
  faults.fail_open(1000);
  const auto lost = device.client()->actor().ended();
  faults.lose();
  lost.wait();
  const auto back = device.when_ready();
  pass_time(*clock, [&] { return back.ready(); });
  EXPECT_EQ(back.wait().error().code(), ErrorCode::device_lost);
  EXPECT_FALSE(device.ready());
  EXPECT_TRUE(log.contains("supervisor gave up"));
}

TEST(DeviceGivenUp, is_known_of_devices_that_were_lost_at_once) {
  const LogCapture log;  // it is told of two hundred ends
  for (int round = 0; round < 100; ++round) {
    const Faults faults;
    SystemOptions options;
    options.drivers = with_faults(faults);
    options.device_restarts.intensity = 0;
    const System system{options};
    const Device device = system.device("null");
    faults.lose();  // while the supervisors are still on their way
    ASSERT_EQ(device.client()->actor().ended().get().error()->code(), ErrorCode::device_lost);
    ASSERT_EQ(device.when_ready().wait().error().code(), ErrorCode::device_lost);
  }
}

TEST(HungDevice, is_lost_when_a_command_outlives_its_deadline_by_far) {
  const Faults faults;
  const LogCapture log;
  const auto clock = std::make_shared<ManualClock>();
  SystemOptions options;
  options.drivers = with_faults(faults);
  options.clock = clock;
  options.device.hang_patience = 10s;
  options.stall_limit = 0s;
  const System system{options};
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  faults.hang_submission();
  const Command hung = device.submit("relu", {x}, x, {}, {.deadline = clock->now() + 1s});
  const Command behind = device.submit("neg", {x}, x);
  clock->advance(1s);
  EXPECT_EQ(hung.wait().error().code(), ErrorCode::deadline_exceeded) << "the caller hears at once";
  EXPECT_FALSE(behind.ready());
  pass_time(*clock, [&] { return behind.ready(); });
  EXPECT_EQ(behind.wait().error().code(), ErrorCode::device_lost);
  pass_time(*clock, [&] { return device.ready(); });
  const Buffer y = device.buffer({-1.0F});
  EXPECT_EQ(device.run("relu", {y}).read<float>().get(), std::vector{0.0F});
}

}  // namespace
}  // namespace stoker
