// Devices that are lost on purpose: everybody hears of it, nobody hangs, nothing leaks, and the
// device comes back.
#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

#include "fault_fixture.hpp"

namespace stoker {
namespace {

constexpr auto lost = ErrorCode::device_lost;
constexpr auto for_ever = std::chrono::hours{1};

/// Checks the order of what it is told, and says when the loss has come.
class StrictSink final : public CompletionSink {
 public:
  void on_completed(Completion completion) noexcept override {
    EXPECT_FALSE(is_lost()) << "completed after the loss";
    EXPECT_GT(completion.point.value, completed.exchange(completion.point.value));
  }
  void on_lost(Error reason) noexcept override {
    EXPECT_EQ(reason.code(), lost);
    EXPECT_EQ(losses_.fetch_add(1), 0) << "lost twice";
    gone_.release();
  }
  [[nodiscard]] bool is_lost() const { return losses_ > 0; }
  void await_loss() { EXPECT_TRUE(gone_.try_acquire_for(std::chrono::minutes{1})); }

  std::atomic<std::uint64_t> completed{0};

 private:
  std::atomic<int> losses_{0};
  std::binary_semaphore gone_{0};
};

class LostOnPurpose : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (faulty_driver(GetParam(), Faults{})->devices().empty()) GTEST_SKIP() << "no such device";
  }
  const char* name() const { return GetParam(); }

  /// Runs commands into a loss that `plan` brings; each ends, and leaves no memory behind.
  void lose_with_work_in_flight(const std::function<void()>& plan) {
    FaultyDevice device{name(), faults};
    plan();
    std::vector<CommandPtr> commands;
    for (int i = 0; i < 8; ++i) commands.push_back(device.copy());
    EXPECT_EQ(device.outcome(commands.back()), lost);
    for (const CommandPtr& command : commands) {
      const auto ended = device.outcome(command);
      EXPECT_TRUE(ended == well || ended == lost);
    }
    EXPECT_TRUE(device.scheduler->idle());
    EXPECT_EQ(device.scheduler->stats().in_flight, 0U);
    EXPECT_EQ(device.scheduler->pool().stats().leases, 0U);
    device.scheduler->pool().trim();
    EXPECT_EQ(device.scheduler->pool().stats().cached, 0U);
  }

  /// A Vulkan device takes its time to open.
  std::uint64_t rounds() const { return name() == std::string_view{"vulkan"} ? 10 : 100; }

  Faults faults;
};

TEST_P(LostOnPurpose, at_the_nth_submission_it_is_lost_for_all_that_follow) {
  FaultyDevice device{name(), faults};
  EXPECT_EQ(device.outcome(device.copy()), well);
  faults.lose_at_submission(2);
  const auto before = device.copy();
  EXPECT_EQ(device.outcome(before), well);
  const auto at = device.copy(), after = device.copy();
  EXPECT_EQ(device.outcome(at), lost);
  EXPECT_EQ(device.outcome(after), lost);
  // The refusals may be faster than the thread that tells of the loss.
  EXPECT_FALSE(
      device.backend().wait({QueueKind::compute, 3}, std::chrono::steady_clock::now() + for_ever));
  ASSERT_TRUE(device.scheduler->lost());
  EXPECT_EQ(device.scheduler->lost()->detail("device"), device.scheduler->info().name);
  EXPECT_EQ(faults.counters().submissions, 3U);  // what came after never reached the device
}

TEST_P(LostOnPurpose, during_a_submission_the_work_is_accepted_and_never_completes) {
  FaultyDevice device{name(), faults};
  faults.lose_during_submission();
  const auto during = device.copy();
  EXPECT_EQ(device.outcome(during), lost);
  EXPECT_EQ(faults.counters().completions, 0U);
  EXPECT_EQ(faults.counters().losses, 1U);
}

TEST_P(LostOnPurpose, what_had_completed_before_stays_completed) {
  FaultyDevice device{name(), faults};
  faults.hold_completions();
  const auto done = device.copy(), held = device.copy();
  EXPECT_NE(device.outcome_now(done), well);
  faults.release();
  EXPECT_TRUE(
      device.backend().wait({QueueKind::compute, 1}, std::chrono::steady_clock::now() + for_ever));
  faults.lose();
  EXPECT_EQ(device.outcome(held), lost);
  EXPECT_EQ(device.outcome(done), well);
}

TEST_P(LostOnPurpose, every_later_call_says_so_and_none_reaches_the_device) {
  FaultyDevice device{name(), faults};
  const auto relu = KernelRegistry::builtin().find("relu").value();
  faults.lose("pulled out");
  const FaultCounters before = faults.counters();
  EXPECT_EQ(device.backend().allocate(64, MemoryKind::device).error().code(), lost);
  EXPECT_EQ(device.backend().record({}).error().code(), lost);
  EXPECT_EQ(device.backend().submit({QueueKind::compute, 1}).error().reason(), "pulled out");
  EXPECT_EQ(device.prepare("relu", {DType::f32, {16}}).error().code(), lost);
  const FaultCounters after = faults.counters();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.recordings, before.recordings);
  EXPECT_EQ(after.submissions, before.submissions);
  EXPECT_EQ(after.prepares, before.prepares);
}

TEST_P(LostOnPurpose, what_is_held_delayed_or_hung_ends_at_once) {
  ManualClock clock;
  for (int way = 0; way < 3; ++way)
    lose_with_work_in_flight([&] {
      faults.clear();
      if (way == 0) faults.hold_completions();
      if (way == 1) faults.delay_completions(for_ever, clock);
      if (way == 2) faults.hang_submission();
      faults.lose_during_submission(3);
    });
  EXPECT_EQ(faults.counters().held, 0U);
}

TEST_P(LostOnPurpose, whoever_waits_for_a_point_is_woken) {
  FaultyDevice device{name(), faults};
  faults.hang_submission();
  const auto hung = device.copy();
  device.scheduler->turn();
  std::thread other{[&] { faults.lose(); }};
  EXPECT_FALSE(
      device.backend().wait({QueueKind::compute, 1}, std::chrono::steady_clock::now() + for_ever));
  other.join();
  EXPECT_EQ(device.outcome(hung), lost);
}

TEST_P(LostOnPurpose, again_and_again_nothing_stays_behind) {
  for (std::uint64_t i = 0; i < rounds(); ++i) {
    lose_with_work_in_flight([&] { faults.lose_at_submission(1 + i % 8); });
    lose_with_work_in_flight([&] { faults.lose_during_submission(1 + i % 8); });
  }
  EXPECT_EQ(faults.counters().losses, 2 * rounds());
}

TEST_P(LostOnPurpose, by_another_thread_at_any_moment) {
  for (std::uint64_t i = 0; i < rounds(); ++i) {
    const auto driver = faulty_driver(name(), faults);
    StrictSink sink;
    const auto backend = driver->open(0, sink, {}).value();
    std::thread other{[&] { faults.lose(); }};
    for (std::uint64_t value = 1; backend->submit({QueueKind::compute, value}); ++value) {
    }
    sink.await_loss();
    other.join();
  }
}

TEST_P(LostOnPurpose, other_devices_keep_serving) {
  FaultyDevice device{name(), faults}, other{"cpu", Faults{}};
  faults.hang_submission();
  const auto hung = device.copy(), elsewhere = other.copy();
  EXPECT_EQ(other.outcome(elsewhere), well);
  faults.lose();
  EXPECT_EQ(device.outcome(hung), lost);
  EXPECT_EQ(other.outcome(other.copy()), well);
}

TEST_P(LostOnPurpose, it_can_be_opened_again_when_it_allows_that) {
  const auto driver = faulty_driver(name(), faults);
  {
    FaultyDevice device{name(), faults};
    const auto command = device.copy();
    faults.lose();
    faults.fail_open(2);
    EXPECT_EQ(device.outcome(command), lost);
    StrictSink sink;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(driver->open(0, sink, {}).error().code(), lost);
  }
  FaultyDevice again{name(), faults};
  EXPECT_EQ(again.outcome(again.copy()), well);
  EXPECT_EQ(faults.counters().opens, 4U);
}

TEST_P(LostOnPurpose, a_hung_device_can_be_closed) {
  StrictSink sink;
  const auto driver = faulty_driver(name(), faults);
  auto backend = driver->open(0, sink, {}).value();
  faults.hang_submission();
  ASSERT_TRUE(backend->submit({QueueKind::compute, 1}));
  backend.reset();
  faults.lose();  // speaks of nobody now
  EXPECT_EQ(sink.completed, 0U);
  EXPECT_FALSE(sink.is_lost());
}

INSTANTIATE_TEST_SUITE_P(Devices, LostOnPurpose, testing::Values("null", "cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
