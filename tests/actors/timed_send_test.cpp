#include "stoker/actors/timed_send.hpp"

#include "probe.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class TimedSends : public Probes {
 protected:
  void pass(Clock::duration time) {
    clock.advance(time);
    executor->run_all();
  }
};

TEST_F(TimedSends, arrive_when_their_time_has_come) {
  const SendTimer timer = cast_after(a, 5s, 7);
  pass(4s);
  EXPECT_TRUE(of_a.notes.empty());
  pass(1s);
  EXPECT_EQ(of_a.notes, std::vector{7});
  pass(1h);
  EXPECT_EQ(of_a.notes.size(), 1U);
}

TEST_F(TimedSends, that_are_cancelled_never_arrive) {
  SendTimer timer = cast_after(a, 5s, 7);
  EXPECT_TRUE(timer.cancel());
  EXPECT_FALSE(timer.cancel());
  pass(1h);
  EXPECT_TRUE(of_a.notes.empty());
}

TEST_F(TimedSends, end_with_their_handle_unless_it_is_detached) {
  { const SendTimer dropped = cast_after(a, 1s, 1); }
  cast_after(a, 1s, 2).detach();
  pass(1s);
  EXPECT_EQ(of_a.notes, std::vector{2});
}

TEST_F(TimedSends, cannot_be_cancelled_once_they_were_sent) {
  SendTimer timer = cast_after(a, 1s, 1);
  pass(1s);
  EXPECT_FALSE(timer.cancel());
}

TEST_F(TimedSends, repeat_in_rhythm) {
  const SendTimer timer = cast_every(a, 10s, 1);
  pass(10s);
  pass(5s);
  EXPECT_EQ(of_a.notes.size(), 1U);
  pass(5s);
  EXPECT_EQ(of_a.notes.size(), 2U);
}

TEST_F(TimedSends, leave_out_the_times_that_passed_while_nobody_ran) {
  const SendTimer timer = cast_every(a, 10s, 1);
  clock.advance(35s);
  executor->run_all();
  EXPECT_EQ(of_a.notes.size(), 1U);
  pass(4s);
  EXPECT_EQ(of_a.notes.size(), 1U);
  pass(1s);
  EXPECT_EQ(of_a.notes.size(), 2U) << "at 40 s: the rhythm is kept";
}

TEST_F(TimedSends, that_repeat_stop_when_cancelled_or_when_the_target_has_ended) {
  SendTimer stopped = cast_every(a, 1s, 1);
  const SendTimer orphaned = cast_every(b, 1s, 1);
  pass(1s);
  stopped.cancel();
  crash(b);
  pass(1s);
  pass(1s);
  EXPECT_EQ(of_a.notes.size(), 1U);
  EXPECT_EQ(of_b.notes.size(), 1U);
  EXPECT_EQ(clock.next_due(), Clock::time_point::max()) << "nothing is armed any more";
}

TEST_F(TimedSends, do_not_keep_their_target_reachable) {
  Journal seen;
  std::weak_ptr<ActorCell> cell;
  SendTimer timer;
  {
    const auto target = probe(seen, "short-lived");
    cell = target.cell();
    timer = cast_every(target, 1s, 1);
  }
  EXPECT_TRUE(cell.expired());
  pass(1s);
}

TEST_F(TimedSends, refuse_a_period_that_is_not_positive) {
  EXPECT_THROW(static_cast<void>(cast_every(a, 0s, 1)), Error);
}

}  // namespace
}  // namespace stoker
