// A program whose device is lost: every handle says so, other devices serve, a new system works.
#include <gtest/gtest.h>

#include "stoker/api/stoker.hpp"
#include "stoker/device/fault/fault_injection.hpp"

namespace stoker {
namespace {

class LostDevices : public testing::TestWithParam<const char*> {
 protected:
  LostDevices() { options.drivers = with_faults(faults); }
  static ErrorCode code_of(const auto& outcome) {
    return outcome ? ErrorCode::internal : outcome.error().code();
  }

  Faults faults;
  SystemOptions options;
};

TEST_P(LostDevices, end_commands_reads_and_pipelines_and_refuse_new_ones) {
  const System system{options};
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, 2.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("abs", {x}, "positive");
  pipeline.add("neg", {"positive"}, x);
  pipeline.run().get();
  faults.hang_submission();
  const Command hung = device.submit("relu", {x}, x);
  const Command run = pipeline.run();
  const auto read = x.read<float>();
  faults.on(device.name()).lose("unplugged");
  EXPECT_EQ(code_of(hung.wait()), ErrorCode::device_lost);
  EXPECT_EQ(code_of(run.wait()), ErrorCode::device_lost);
  EXPECT_EQ(code_of(read.wait()), ErrorCode::device_lost);
  try {
    device.submit("relu", {x}, x);
    FAIL() << "a lost device took work";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost);
    EXPECT_EQ(error.reason(), "unplugged");
  }
}

TEST_P(LostDevices, leave_other_devices_and_later_systems_alone) {
  {
    const System system{options};
    const Device device = system.device(GetParam());
    const Device other = system.device(GetParam() == std::string_view{"null"} ? "cpu" : "null");
    const Buffer x = device.buffer({1.0F}), y = other.buffer({1.0F});
    faults.on(device.name()).lose_at_submission();
    EXPECT_EQ(code_of(device.submit("relu", {x}, x).wait()), ErrorCode::device_lost);
    EXPECT_TRUE(other.submit("relu", {y}, y).wait());
    EXPECT_TRUE(system.stop());
  }
  const System system{options};
  const Device again = system.device(GetParam());
  const Buffer x = again.buffer({1.0F});
  EXPECT_TRUE(again.submit("relu", {x}, x).wait());
}

TEST_P(LostDevices, are_lost_anew_however_often_they_come_back) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const System system{options};
    const Device device = system.device(GetParam());
    const Buffer x = device.buffer(std::vector<float>(4096, -1.0F));
    if (i % 2)
      faults.lose_during_submission(1 + i % 5);
    else
      faults.lose_at_submission(1 + i % 5);
    try {
      for (;;) device.submit("relu", {x}, x).get();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
  }
  EXPECT_EQ(faults.counters().losses, 20U);
}

INSTANTIATE_TEST_SUITE_P(Devices, LostDevices, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
