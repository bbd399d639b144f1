// Devices that fail on purpose: each fault hits what it was planned for, and nothing else.
#include <gtest/gtest.h>

#include <thread>

#include "fault_fixture.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

constexpr auto lost = ErrorCode::device_lost;
constexpr auto unfinished = ErrorCode::deadline_exceeded;

class InjectedFaults : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (faulty_driver(GetParam(), Faults{})->devices().empty()) GTEST_SKIP() << "no such device";
  }
  const char* name() const { return GetParam(); }
  Faults faults;
};

TEST_P(InjectedFaults, an_empty_plan_changes_nothing) {
  FaultyDevice device{name(), faults};
  const auto a = device.buffer(), b = device.buffer();
  EXPECT_EQ(device.outcome(device.copy(a, b)), well);
  EXPECT_EQ(device.outcome(device.run("relu", b, a)), well);
  const FaultCounters counters = faults.counters();
  EXPECT_EQ(counters.opens, 1U);
  EXPECT_EQ(counters.prepares, 1U);
  EXPECT_EQ(counters.submissions, 2U);
  EXPECT_EQ(counters.completions, 2U);
  EXPECT_EQ(counters.injected, 0U);
}

TEST_P(InjectedFaults, speak_of_one_device_or_of_its_kind_or_of_all) {
  FaultyDevice device{name(), faults};
  faults.on("another").fail_submission();
  EXPECT_EQ(device.outcome(device.copy()), well);
  faults.on(name()).fail_submission();
  EXPECT_EQ(device.outcome(device.copy()), ErrorCode::out_of_memory);
  EXPECT_EQ(faults.on(name()).counters().injected, 1U);
  EXPECT_EQ(faults.on("another").counters().injected, 0U);
}

TEST_P(InjectedFaults, the_nth_allocation_fails_and_no_other) {
  FaultyDevice device{name(), faults};
  faults.fail_allocation(2);
  EXPECT_TRUE(device.backend().allocate(64, MemoryKind::device));
  const auto refused = device.backend().allocate(64, MemoryKind::device);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().detail("requested"), "64");
  EXPECT_EQ(refused.error().detail("device"), device.scheduler->info().name);
  EXPECT_TRUE(device.backend().allocate(64, MemoryKind::device));
  EXPECT_EQ(faults.counters().allocations, 3U);
}

TEST_P(InjectedFaults, a_pool_gives_its_cache_back_before_it_refuses) {
  FaultyDevice device{name(), faults};
  const TensorSpec large{DType::u8, {1 << 20}}, larger{DType::u8, {4 << 20}};
  static_cast<void>(device.scheduler->make_buffer(large, "test").value());  // cached from here on
  faults.fail_allocation(1);
  EXPECT_TRUE(device.scheduler->make_buffer(larger, "test"));
  faults.fail_allocation(1, 2);
  const auto refused = device.scheduler->make_buffer({DType::u8, {16 << 20}}, "test");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().detail("in_use"), "0");
  EXPECT_FALSE(refused.error().detail("limit").empty());
}

TEST_P(InjectedFaults, the_nth_submission_is_refused_and_no_other) {
  FaultyDevice device{name(), faults};
  faults.fail_submission(2);
  const auto before = device.copy(), refused = device.copy(), after = device.copy();
  EXPECT_EQ(device.outcome(before), well);
  EXPECT_EQ(device.outcome(refused), ErrorCode::out_of_memory);
  EXPECT_EQ(device.outcome(after), well);
  EXPECT_FALSE(device.scheduler->lost());
}

TEST_P(InjectedFaults, a_given_error_is_the_one_that_comes_back) {
  FaultyDevice device{name(), faults};
  faults.fail_submission(1, Error{"submit", ErrorCode::limit_exceeded, "by the test"});
  EXPECT_EQ(device.outcome(device.copy()), ErrorCode::limit_exceeded);
}

TEST_P(InjectedFaults, a_kernel_that_cannot_be_prepared_can_be_the_next_time) {
  FaultyDevice device{name(), faults};
  faults.fail_prepare();
  const TensorSpec spec{DType::f32, {16}};
  EXPECT_EQ(device.prepare("relu", spec).error().code(), ErrorCode::compile_failed);
  EXPECT_TRUE(device.prepare("relu", spec));
}

TEST_P(InjectedFaults, a_recording_that_cannot_be_made_can_be_the_next_time) {
  FaultyDevice device{name(), faults};
  const auto a = device.buffer(), b = device.buffer();
  const auto replay = device.replay_of({{"relu", a, b}});
  faults.fail_record();
  EXPECT_EQ(device.outcome(device.replay(replay)), ErrorCode::out_of_memory);
  EXPECT_EQ(device.outcome(device.replay(replay)), well);
  EXPECT_EQ(faults.counters().recordings, 2U);
}

TEST_P(InjectedFaults, a_failed_kernel_fails_its_dependents_and_nobody_else) {
  FaultyDevice device{name(), faults};
  const auto a = device.buffer(), b = device.buffer(), c = device.buffer(), d = device.buffer();
  faults.fail_kernel("relu");
  const auto other = device.run("abs", a, d);
  const auto broken = device.run("relu", a, b);
  const auto dependent = device.run("abs", b, c);
  const auto overwriter = device.run("abs", d, a);
  EXPECT_EQ(device.outcome(other), well);
  EXPECT_EQ(device.outcome(overwriter), well);
  EXPECT_EQ(device.outcome(broken), ErrorCode::handler_failed);
  EXPECT_EQ(broken->result().error().op(), "relu");
  EXPECT_EQ(device.outcome(dependent), ErrorCode::handler_failed);
  EXPECT_EQ(device.outcome(device.run("relu", a, b)), well);
}

TEST_P(InjectedFaults, a_failed_step_of_a_recording_is_named) {
  FaultyDevice device{name(), faults};
  const auto a = device.buffer(), b = device.buffer(), c = device.buffer();
  const auto replay = device.replay_of({{"abs", a, b}, {"relu", b, c}});
  EXPECT_EQ(device.outcome(device.replay(replay)), well);
  faults.fail_kernel({}, 2, Error{"relu", ErrorCode::handler_failed, "by the test"});
  const auto failed = device.replay(replay);
  EXPECT_EQ(device.outcome(failed), ErrorCode::handler_failed);
  EXPECT_EQ(failed->result().error().reason(), "by the test");
  EXPECT_EQ(failed->result().error().detail("step"), "1");
}

TEST_P(InjectedFaults, held_completions_come_one_by_one_and_in_order) {
  FaultyDevice device{name(), faults};
  faults.hold_completions();
  const auto first = device.copy(), second = device.copy();
  EXPECT_EQ(device.outcome_now(first), unfinished);
  EXPECT_EQ(faults.counters().held, 2U);
  faults.release();
  EXPECT_EQ(device.outcome(first), well);
  EXPECT_EQ(device.outcome_now(second), unfinished);
  faults.release_all();
  EXPECT_EQ(device.outcome(second), well);
  EXPECT_EQ(device.outcome(device.copy()), well);
  EXPECT_EQ(faults.counters().held, 0U);
}

TEST_P(InjectedFaults, a_delayed_completion_waits_for_the_clock) {
  ManualClock clock;
  FaultyDevice device{name(), faults};
  faults.delay_completions(5ms, clock);
  const auto command = device.copy();
  EXPECT_EQ(device.outcome_now(command), unfinished);
  clock.advance(4ms);
  EXPECT_EQ(device.outcome_now(command), unfinished);
  clock.advance(1ms);
  EXPECT_EQ(device.outcome(command), well);
}

TEST_P(InjectedFaults, clear_forgets_the_plan_and_lets_go_of_what_waits) {
  ManualClock clock;
  FaultyDevice device{name(), faults};
  faults.hold_completions();
  faults.delay_completions(1h, clock);
  faults.fail_submission(2);
  const auto held = device.copy();
  EXPECT_EQ(device.outcome_now(held), unfinished);
  faults.clear();
  EXPECT_EQ(device.outcome(held), well);
  EXPECT_EQ(device.outcome(device.copy()), well);
}

TEST_P(InjectedFaults, a_hung_submission_holds_up_its_queue_until_the_device_is_lost) {
  FaultyDevice device{name(), faults, 2};
  faults.hang_submission(2);
  const auto before = device.copy(), hung = device.copy(), behind = device.copy();
  EXPECT_EQ(device.outcome(before), well);
  faults.release_all();  // speaks of what is held, not of what hangs
  EXPECT_EQ(device.outcome_now(hung), unfinished);
  EXPECT_EQ(device.outcome_now(behind), unfinished);
  EXPECT_FALSE(device.backend().wait(device.scheduler->submitted()[0], {}));
  faults.lose();
  EXPECT_EQ(device.outcome(hung), lost);
  EXPECT_EQ(device.outcome(behind), lost);
}

INSTANTIATE_TEST_SUITE_P(Devices, InjectedFaults, testing::Values("null", "cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
