#include "probe.hpp"

namespace stoker {
namespace {

class Ends : public Probes {};

TEST_F(Ends, terminate_is_the_last_call_and_learns_the_reason) {
  EXPECT_TRUE(a.cast(1));
  const auto ended = a.stop({.reason = ExitReason::shutdown("enough")});
  EXPECT_TRUE(a.cast(2));
  executor->run_all();
  EXPECT_EQ(ended.get(), ExitReason::shutdown("enough"));
  EXPECT_EQ(of_a.order, (std::vector<std::string>{"1", "{shutdown, enough}"}));
}

TEST_F(Ends, a_crash_in_terminate_becomes_the_reason) {
  struct Clumsy final : Actor {
    void terminate(const ExitReason&) override { throw std::runtime_error{"too late"}; }
  };
  const auto clumsy = spawn<Clumsy>(executor, {.name = "clumsy"});
  const auto ended = clumsy.stop();
  executor->run_all();
  EXPECT_EQ(ended.get().error()->reason(), "too late");
}

TEST_F(Ends, stop_kills_what_does_not_end_in_time) {
  Journal of_slow;
  const auto slow = spawn<Probe>(executor, {.name = "slow", .capacity = 1000}, of_slow);
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(slow.cast(i));
  const auto ended = slow.stop({.patience = std::chrono::seconds{5}});
  ASSERT_TRUE(executor->run_one());  // a turn, which is not enough
  EXPECT_FALSE(ended.ready());
  clock.advance(std::chrono::seconds{5});
  executor->run_all();
  EXPECT_EQ(ended.get(), ExitReason::killed());
  EXPECT_LT(of_slow.notes.size(), 500U);
}

TEST_F(Ends, stop_in_time_kills_nobody) {
  const auto ended = a.stop({.patience = std::chrono::seconds{5}});
  executor->run_all();
  clock.advance(std::chrono::seconds{5});
  executor->run_all();
  EXPECT_EQ(ended.get(), ExitReason::normal());
}

TEST_F(Ends, an_actor_that_nobody_can_reach_ends_and_says_so) {
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(b)); });
  b = {};
  executor->run_all();
  ASSERT_EQ(of_a.downs.size(), 1U);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::shutdown());
  EXPECT_TRUE(of_b.order.empty());  // no terminate(): this is not its strand
}

TEST_F(Ends, that_follow_from_each_other_do_not_make_ever_longer_reasons) {
  ExitReason why = ExitReason::failure(Error{"test", ErrorCode::internal, "on purpose"});
  for (int i = 0; i < 100; ++i) why = ExitReason::failure(why.as_error("call", "partner"));
  EXPECT_LT(why.to_string().size(), 700U);
}

TEST_F(Ends, are_one_future_however_often_it_is_asked_for) {
  const auto ended = a.ended();
  EXPECT_EQ(a.ended().state(), ended.state()) << "asking again and again takes no memory";
  crash(a);
  EXPECT_NE(ended.get().error(), nullptr);
}

TEST_F(Ends, a_cast_to_one_that_has_ended_is_silent) {
  crash(a);
  EXPECT_TRUE(a.cast(1));
  executor->run_all();
  EXPECT_TRUE(of_a.notes.empty());
}

TEST_F(Ends, calls_learn_why_the_actor_has_ended) {
  const auto waiting = a.call(Doing{[](Probe& me) { me.exit(ExitReason::shutdown("done")); }});
  executor->run_all();
  EXPECT_EQ(waiting.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(waiting.wait().error().detail("exit_reason"), "{shutdown, done}");
}

}  // namespace
}  // namespace stoker
