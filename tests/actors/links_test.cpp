#include <memory>
#include <vector>

#include "probe.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"

namespace stoker {
namespace {

class Links : public Probes {};

TEST_F(Links, a_link_ends_both_with_the_same_reason) {
  in(a, [&](Probe& me) { me.link(b); });
  crash(b);
  EXPECT_FALSE(a.alive());
  EXPECT_EQ(a.ended().get(), b.ended().get());
  EXPECT_EQ(a.ended().get().error()->reason(), "on purpose");
}

TEST_F(Links, a_link_works_in_both_directions) {
  in(a, [&](Probe& me) { me.link(b); });
  crash(a);
  EXPECT_FALSE(b.alive());
}

TEST_F(Links, a_pair_is_linked_at_most_once) {
  in(b, [&](Probe& me) {
    me.trap_exit();
    me.link(a);
    me.link(a);
  });
  in(a, [&](Probe& me) { me.link(b); });
  crash(a);
  EXPECT_EQ(of_b.exits.size(), 1U);
}

TEST_F(Links, one_unlink_cuts_a_link_that_was_asked_for_twice_and_from_both_sides) {
  in(a, [&](Probe& me) { me.link(b); });
  in(b, [&](Probe& me) { me.link(a); });
  in(a, [&](Probe& me) { me.unlink(b); });
  crash(b);
  EXPECT_TRUE(a.alive());
}

TEST_F(Links, linking_to_one_that_has_ended_gives_noproc) {
  crash(b);
  in(a, [&](Probe& me) { me.link(b); });
  EXPECT_EQ(a.ended().get(), ExitReason::noproc());
}

TEST_F(Links, a_trapping_actor_is_told_noproc_and_lives) {
  crash(b);
  in(a, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
  });
  ASSERT_EQ(of_a.exits.size(), 1U);
  EXPECT_EQ(of_a.exits[0].reason, ExitReason::noproc());
  EXPECT_EQ(of_a.exits[0].from, b.id());
}

TEST_F(Links, linking_to_itself_does_nothing) {
  in(a, [&](Probe& me) { me.link(a); });
  EXPECT_TRUE(a.alive());
  EXPECT_EQ(a.stop().valid(), true);
}

TEST_F(Links, spawn_link_ties_a_child_before_anybody_can_reach_it) {
  Journal of_child;
  const auto parent = spawn<ProbesParent>(executor, {.name = "parent"});
  const auto child = parent.call(&of_child);
  executor->run_all();
  crash(child.get());
  EXPECT_EQ(parent.ended().get().error()->reason(), "on purpose");
}

TEST_F(Links, normal_ends_pass_over_links_unless_trapped) {
  Journal of_c;
  const auto c = probe(of_c, "c");
  in(a, [&](Probe& me) { me.link(b); });
  in(c, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
  });
  in(b, [](Probe& me) { me.exit(ExitReason::normal()); });
  EXPECT_FALSE(b.alive());
  EXPECT_TRUE(a.alive());
  ASSERT_EQ(of_c.exits.size(), 1U);
  EXPECT_EQ(of_c.exits[0].reason, ExitReason::normal());
  EXPECT_EQ(of_c.exits[0].from, b.id());
}

TEST_F(Links, shutdown_passes_through_links) {
  in(a, [&](Probe& me) { me.link(b); });
  in(b, [](Probe& me) { me.exit(ExitReason::shutdown("no work left")); });
  EXPECT_EQ(a.ended().get(), ExitReason::shutdown("no work left"));
  EXPECT_EQ(a.ended().get().word(), "no work left");
}

TEST_F(Links, an_exit_passes_along_a_chain_of_links) {
  Journal of_c;
  const auto c = probe(of_c, "c");
  in(a, [&](Probe& me) { me.link(b); });
  in(b, [&](Probe& me) { me.link(c); });
  crash(c);
  EXPECT_FALSE(a.alive());
  EXPECT_EQ(a.ended().get().error()->reason(), "on purpose");
}

TEST_F(Links, after_unlink_the_link_has_no_effect_even_if_its_signal_queues) {
  in(a, [&](Probe& me) { me.link(b); });
  // b ends while a is inside a handler: the signal waits in a's mailbox.
  EXPECT_TRUE(a.cast(Doing{[&](Probe& me) {
    while (b.alive()) ASSERT_TRUE(executor->run_one());
    me.unlink(b);
  }}));
  EXPECT_TRUE(b.cast(Doing{[](Probe&) { throw std::runtime_error{"on purpose"}; }}));
  executor->run_all();
  EXPECT_FALSE(b.alive());
  EXPECT_TRUE(a.alive());
}

TEST_F(Links, unlink_can_flush_the_exit_that_already_queues) {
  for (const Flush flush : {Flush::no, Flush::yes}) {
    Journal of_trapper;
    Journal of_other;
    const auto trapper = probe(of_trapper, "trapper");
    const auto other = probe(of_other, "other");
    in(trapper, [&](Probe& me) {
      me.trap_exit();
      me.link(other);
    });
    other.exit(ExitReason::kill());
    ASSERT_TRUE(executor->run_one());
    ASSERT_FALSE(other.alive());
    // The signal overtakes this handler; the message that it becomes queues behind it.
    in(trapper, [&](Probe& me) { me.unlink(other, flush); });
    EXPECT_EQ(of_trapper.exits.size(), flush == Flush::yes ? 0U : 1U);
  }
}

TEST(LinksOnAPool, stress_links_that_come_and_go_leave_none_behind_that_should_have_ended) {
  constexpr std::size_t count = 64;
  const auto pool = make_thread_pool(std::make_shared<SystemClock>(), {2, "test"});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Journal>> journals;
    std::vector<ActorRef<Probe>> ring;
    for (std::size_t i = 0; i < count; ++i) {
      journals.push_back(std::make_unique<Journal>());
      ring.push_back(spawn<Probe>(pool, {.name = "ring"}, *journals.back()));
    }
    // Both neighbours set up and cut the same link at the same time; in the end all are linked.
    std::vector<Future<void>> ready;
    for (std::size_t i = 0; i < count; ++i)
      ready.push_back(ring[i].call(Doing{[&ring, i](Probe& me) {
        const auto& next = ring[(i + 1) % count];
        const auto& before = ring[(i + count - 1) % count];
        for (int k = 0; k < 3; ++k) {
          me.link(next);
          me.link(before);
          me.unlink(before);
        }
        me.link(next);
        me.link(before);
      }}));
    for (const auto& each : ready) each.get();
    for (std::size_t i = 0; i < count; ++i)
      ring[i].call(Doing{[&ring, i](Probe& me) { me.link(ring[(i + 1) % count]); }}).get();
    ring[static_cast<std::size_t>(round)].exit(ExitReason::shutdown());
    for (const auto& each : ring) EXPECT_EQ(each.ended().get(), ExitReason::shutdown());
  }
}

}  // namespace
}  // namespace stoker
