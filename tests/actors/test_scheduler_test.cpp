#include "stoker/actors/test_scheduler.hpp"

#include <algorithm>

#include "probe.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/actors/timed_send.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class Scheduled : public testing::Test {
 protected:
  [[nodiscard]] ActorRef<Probe> probe(Journal& seen, std::string name) {
    return spawn<Probe>(scheduler.executor(), {.name = std::move(name)}, seen);
  }
  TestScheduler scheduler;
  Journal of_a;
  Journal of_b;
  ActorRef<Probe> a = probe(of_a, "a");
  ActorRef<Probe> b = probe(of_b, "b");
};

TEST_F(Scheduled, deliver_one_message_at_a_time_to_whom_the_test_says) {
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(a.cast(i));
    ASSERT_TRUE(b.cast(i));
  }
  EXPECT_TRUE(scheduler.deliver(b));
  EXPECT_EQ(of_b.notes, std::vector{1});
  EXPECT_TRUE(of_a.notes.empty());
  EXPECT_TRUE(scheduler.deliver(b));
  EXPECT_FALSE(scheduler.deliver(b)) << "nothing is left for it";
  EXPECT_EQ(scheduler.run(), 2U);
  EXPECT_EQ(of_a.notes, (std::vector{1, 2}));
}

TEST_F(Scheduled, expect_a_message_of_a_type) {
  ASSERT_TRUE(a.cast(7));
  ASSERT_TRUE(a.cast(Doing{[](Probe&) {}}));
  EXPECT_FALSE(scheduler.allow<Doing>(a));
  scheduler.expect<int>(a);
  EXPECT_EQ(of_a.notes, std::vector{7});
  try {
    scheduler.expect<int>(a);
    FAIL() << "a Doing is next";
  } catch (const Error& error) {
    EXPECT_EQ(error.detail("expected"), "int");
    EXPECT_NE(error.detail("next").find("Probe"), std::string_view::npos);
  }
  EXPECT_TRUE(scheduler.allow<Doing>(a));
}

TEST_F(Scheduled, forbid_a_message) {
  EXPECT_NO_THROW(scheduler.forbid<int>(a));
  ASSERT_TRUE(a.cast(7));
  EXPECT_THROW(scheduler.forbid<int>(a), Error);
  EXPECT_NO_THROW(scheduler.forbid<int>(b));
}

TEST_F(Scheduled, inject_an_exit_between_two_messages) {
  ASSERT_TRUE(a.cast(1));
  ASSERT_TRUE(a.cast(2));
  scheduler.expect<int>(a);
  scheduler.inject_exit(a, ExitReason::kill());
  EXPECT_FALSE(a.alive());
  scheduler.run();
  EXPECT_EQ(of_a.notes, std::vector{1});
}

TEST_F(Scheduled, inject_a_failure_that_the_supervisor_restarts) {
  const auto started =
      start_supervisor(scheduler.executor(), {}, {child<Probe>("p", std::ref(of_a))});
  scheduler.run();
  const auto before = started.get().which_children();
  scheduler.run();
  const ActorAddress first = before.get().at(0).actor;
  scheduler.inject_failure(first, Error{"test", ErrorCode::out_of_memory, "no memory"});
  EXPECT_FALSE(first.alive());
  ASSERT_NE(first.ended().get().error(), nullptr);
  EXPECT_EQ(first.ended().get().error()->code(), ErrorCode::out_of_memory);
  scheduler.run();
  const auto after = started.get().which_children();
  scheduler.run();
  EXPECT_TRUE(after.get().at(0).actor.alive());
}

TEST_F(Scheduled, move_time) {
  const SendTimer timer = cast_after(a, 5s, 3);
  scheduler.run();
  scheduler.forbid<int>(a);
  EXPECT_EQ(scheduler.advance(5s), 1U);
  scheduler.run();
  EXPECT_EQ(of_a.notes, std::vector{3});
}

TEST_F(Scheduled, drive_supervisors_too) {
  const auto started =
      start_supervisor(scheduler.executor(), {.intensity = 3}, {child<Probe>("p", std::ref(of_a))});
  scheduler.run();
  const Supervisor supervisor = started.get();
  const auto before = supervisor.which_children();
  scheduler.run();
  scheduler.inject_exit(before.get().at(0).actor, ExitReason::shutdown("test"));
  scheduler.run();
  const auto after = supervisor.which_children();
  scheduler.run();
  EXPECT_EQ(after.get().at(0).restarts, 1U);
  EXPECT_TRUE(after.get().at(0).actor.alive());
}

// --- shuffled ------------------------------------------------------------------------------------

/// The order in which two actors of the same scheduler get their messages.
std::vector<std::string> order_of(TestScheduler scheduler) {
  Journal seen;
  std::vector<ActorRef<Probe>> probes;
  for (int i = 0; i < 4; ++i)
    probes.push_back(spawn<Probe>(scheduler.executor(), {.name = "probe"}, seen));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(probes[static_cast<std::size_t>(i) % 4].cast(i));
  scheduler.run();
  return seen.order;
}

TEST(ShuffledSchedules, are_the_same_for_the_same_seed) {
  EXPECT_EQ(order_of(TestScheduler{7}), order_of(TestScheduler{7}));
}

TEST(ShuffledSchedules, differ_between_seeds_and_keep_the_order_of_each_sender) {
  bool differ = false;
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    const auto order = order_of(TestScheduler{seed});
    differ = differ || order != order_of(TestScheduler{seed + 1});
    for (int actor = 0; actor < 4; ++actor) {
      std::vector<int> own;
      for (const std::string& note : order)
        if (const int number = std::stoi(note); number % 4 == actor) own.push_back(number);
      EXPECT_TRUE(std::ranges::is_sorted(own));
    }
  }
  EXPECT_TRUE(differ);
}

TEST(ShuffledSchedules, say_their_seed) {
  const auto scheduler = TestScheduler::shuffled();
  EXPECT_TRUE(scheduler.seed().has_value());
  EXPECT_FALSE(TestScheduler{}.seed().has_value());
}

}  // namespace
}  // namespace stoker
