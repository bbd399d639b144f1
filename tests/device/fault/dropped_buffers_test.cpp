// Buffers that nobody holds any more while work that uses them is in flight.
#include <gtest/gtest.h>

#include "fault_fixture.hpp"

namespace stoker {
namespace {

class DroppedBuffers : public testing::Test {
 protected:
  static bool all() { return true; }
  static bool not_all() { return false; }
  std::shared_ptr<BufferState> late() const {
    return device.scheduler->make_late_buffer({DType::f32, {16}}, "test").value();
  }

  Faults faults;
  FaultyDevice device{"cpu", faults};
  CommandScheduler& scheduler = *device.scheduler;
};

TEST_F(DroppedBuffers, are_left_to_the_turn_that_ends_what_is_in_flight) {
  faults.hold_completions();
  const auto buffer = late();
  const auto command = device.copy(device.buffer(), buffer);
  scheduler.turn();
  EXPECT_TRUE(scheduler.drop(buffer));
  EXPECT_TRUE(scheduler.has_dropped());
  scheduler.release_dropped(all);
  EXPECT_FALSE(scheduler.has_dropped());
  EXPECT_TRUE(buffer->dropped);
  EXPECT_TRUE(buffer->memory) << "the copy still writes it";
  faults.release_all();
  EXPECT_EQ(device.outcome(command), well);
  EXPECT_FALSE(buffer->memory);
}

TEST_F(DroppedBuffers, wait_for_what_was_sent_before_them) {
  faults.hold_completions();
  const auto buffer = late();
  const auto first = device.copy(device.buffer(), buffer);
  scheduler.turn();
  EXPECT_TRUE(scheduler.drop(buffer));
  scheduler.release_dropped(not_all);
  EXPECT_TRUE(scheduler.has_dropped());
  EXPECT_FALSE(buffer->dropped);
  // Sent before it was dropped, and delivered only now: it is not refused.
  const auto second = device.copy(buffer, device.buffer());
  scheduler.release_dropped(all);
  faults.release_all();
  EXPECT_EQ(device.outcome(first), well);
  EXPECT_EQ(device.outcome(second), well);
  EXPECT_FALSE(buffer->memory);
}

TEST_F(DroppedBuffers, of_an_idle_device_are_left_to_the_caller) {
  const auto buffer = late();
  EXPECT_FALSE(scheduler.drop(buffer));
  scheduler.release(*buffer);  // what the caller then sends
  scheduler.release_dropped(all);
  EXPECT_TRUE(buffer->dropped);
}

}  // namespace
}  // namespace stoker
