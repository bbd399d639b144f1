#include "probe.hpp"
#include "stoker/actors/process_actor.hpp"

namespace stoker {
namespace {

class ExitSignals : public Probes {};

TEST_F(ExitSignals, exit_ends_another_with_the_reason) {
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(a.ended().get(), ExitReason::shutdown());
}

TEST_F(ExitSignals, exit_overtakes_messages_that_wait) {
  EXPECT_TRUE(a.cast(1));
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_TRUE(of_a.notes.empty());
}

TEST_F(ExitSignals, exit_with_normal_is_dropped_unless_the_other_traps) {
  a.exit(ExitReason::normal());
  executor->run_all();
  EXPECT_TRUE(a.alive());
  in(a, [](Probe& me) { me.trap_exit(); });
  a.exit(ExitReason::normal());
  executor->run_all();
  EXPECT_TRUE(a.alive());
  ASSERT_EQ(of_a.exits.size(), 1U);
  EXPECT_EQ(of_a.exits[0].reason, ExitReason::normal());
}

TEST_F(ExitSignals, exit_of_itself_with_normal_does_end_it) {
  in(a, [](Probe& me) { me.self().exit(ExitReason::normal()); });
  EXPECT_EQ(a.ended().get(), ExitReason::normal());
}

TEST_F(ExitSignals, a_process_ends_that_sends_itself_normal) {
  const auto process = spawn_process<int>(executor, {.name = "p"}, [](auto& self) {
    self.receive([&](int) { self.self().exit(ExitReason::normal()); });
    self.receive([](int) { ADD_FAILURE() << "received after its own exit signal"; });
  });
  executor->run_all();
  EXPECT_TRUE(process.cast(1));
  EXPECT_TRUE(process.cast(2));
  executor->run_all();
  EXPECT_EQ(process.ended().get(), ExitReason::normal());
}

TEST_F(ExitSignals, say_which_actor_has_sent_them) {
  in(a, [](Probe& me) { me.trap_exit(); });
  in(b, [&](Probe&) { a.exit(ExitReason::shutdown()); });
  const auto process = spawn_process<>(executor, {.name = "p"}, [&](auto& self) {
    self.sleep_for(std::chrono::seconds{1});  // it wakes in another turn
    a.exit(ExitReason::shutdown());
  });
  executor->run_all();
  clock.advance(std::chrono::seconds{1});
  executor->run_all();
  a.exit(ExitReason::shutdown());
  executor->run_all();
  ASSERT_EQ(of_a.exits.size(), 3U);
  EXPECT_EQ(of_a.exits[0].from, b.id());
  EXPECT_EQ(of_a.exits[1].from, process.id());
  EXPECT_EQ(of_a.exits[2].from, 0U) << "the program";
}

TEST_F(ExitSignals, say_which_actor_has_sent_them_also_from_a_handler_within_a_handler) {
  in(a, [](Probe& me) { me.trap_exit(); });
  in(b, [&](Probe&) {
    Journal of_c;
    const auto c = probe(of_c, "c");
    EXPECT_TRUE(c.cast(Doing{[&](Probe&) { a.exit(ExitReason::shutdown("c")); }}, Run::here));
    a.exit(ExitReason::shutdown("b"));
  });
  ASSERT_EQ(of_a.exits.size(), 2U);
  EXPECT_NE(of_a.exits[0].from, b.id());
  EXPECT_EQ(of_a.exits[1].from, b.id());
}

TEST_F(ExitSignals, of_its_parent_end_an_actor_that_traps_unless_it_takes_its_time) {
  Journal of_child;
  const auto parent = spawn<ProbesParent>(executor, {.name = "parent"});
  const auto child = parent.call(&of_child);
  executor->run_all();
  in(child.get(), [](Probe& me) { me.trap_exit(); });
  EXPECT_TRUE(child.get().cast(1));
  parent.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(child.get().ended().get(), ExitReason::shutdown());
  EXPECT_EQ(of_child.order, (std::vector<std::string>{"1", "shutdown"}));
}

TEST_F(ExitSignals, trapped_exits_become_messages_behind_those_sent_before) {
  in(a, [](Probe& me) { me.trap_exit(); });
  EXPECT_TRUE(a.cast(1));
  EXPECT_TRUE(a.cast(2));
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(of_a.order, (std::vector<std::string>{"1", "2", "exit"}));
}

TEST_F(ExitSignals, kill_cannot_be_trapped_and_the_victims_reason_is_killed) {
  in(a, [](Probe& me) { me.trap_exit(); });
  a.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_EQ(a.ended().get(), ExitReason::killed());
}

TEST_F(ExitSignals, a_kill_through_a_link_can_be_trapped_and_is_not_renamed) {
  Journal of_c;
  const auto c = probe(of_c, "c");
  in(a, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
  });
  in(c, [&](Probe& me) { me.link(b); });
  in(b, [](Probe& me) { me.exit(ExitReason::kill()); });
  ASSERT_EQ(of_a.exits.size(), 1U);
  EXPECT_EQ(of_a.exits[0].reason, ExitReason::kill());
  EXPECT_EQ(c.ended().get(), ExitReason::kill());
}

TEST_F(ExitSignals, one_that_was_killed_tells_its_links_killed) {
  in(a, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
  });
  b.exit(ExitReason::kill());
  executor->run_all();
  ASSERT_EQ(of_a.exits.size(), 1U);
  EXPECT_EQ(of_a.exits[0].reason, ExitReason::killed());
}

TEST_F(ExitSignals, exit_of_one_that_has_ended_is_silent) {
  crash(a);
  a.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_EQ(a.ended().get().kind(), ExitReason::Kind::error);
}

TEST_F(ExitSignals, a_signal_finds_room_in_a_full_mailbox) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(a.cast(i));
  EXPECT_FALSE(a.cast(4));
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_FALSE(a.alive());
}

}  // namespace
}  // namespace stoker
