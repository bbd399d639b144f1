// Links, exit signals and monitors: each test is a rule of OTP's documentation.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/clock.hpp"
#include "stoker/runtime/manual_executor.hpp"
#include "stoker/runtime/thread_pool.hpp"

namespace stoker {
namespace {

/// Does on its strand what a test tells it, and tells `seen` what it is told.
struct Journal {
  std::vector<Exit> exits;
  std::vector<Down> downs;
  std::vector<int> notes;
  std::vector<std::string> order;
};

class Probe;
using Doing = std::function<void(Probe&)>;

class Probe final : public Actor {
 public:
  explicit Probe(Journal& seen) : seen_{&seen} {}
  void on(const Doing& what) { what(*this); }
  void on(int note) {
    seen_->notes.push_back(note);
    seen_->order.push_back(std::to_string(note));
  }

  using Actor::demonitor;
  using Actor::exit;
  using Actor::link;
  using Actor::monitor;
  using Actor::self;
  using Actor::trap_exit;
  using Actor::unlink;

 private:
  void on_exit(const Exit& exit) override {
    seen_->exits.push_back(exit);
    seen_->order.emplace_back("exit");
  }
  void on_down(const Down& down) override {
    seen_->downs.push_back(down);
    seen_->order.emplace_back("down");
  }
  void terminate(const ExitReason& why) override { seen_->order.push_back(why.to_string()); }

  Journal* seen_;
};

class Ties : public testing::Test {
 protected:
  void TearDown() override { executor->run_all(); }

  [[nodiscard]] ActorRef<Probe> probe(Journal& seen, std::string name) {
    return spawn<Probe>(executor, {.name = std::move(name), .capacity = 4}, seen);
  }
  void in(const ActorRef<Probe>& where, Doing what) {
    EXPECT_TRUE(where.cast(std::move(what)));
    executor->run_all();
  }
  void crash(const ActorRef<Probe>& who) {
    in(who, [](Probe&) { throw std::runtime_error{"on purpose"}; });
  }

  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  Journal of_a;
  Journal of_b;
  ActorRef<Probe> a = probe(of_a, "a");
  ActorRef<Probe> b = probe(of_b, "b");
};

// --- links ---------------------------------------------------------------------------------------

TEST_F(Ties, a_link_ends_both_with_the_same_reason) {
  in(a, [&](Probe& me) { me.link(b); });
  crash(b);
  EXPECT_FALSE(a.alive());
  EXPECT_EQ(a.ended().get(), b.ended().get());
  EXPECT_EQ(a.ended().get().error()->reason(), "on purpose");
}

TEST_F(Ties, a_link_works_in_both_directions) {
  in(a, [&](Probe& me) { me.link(b); });
  crash(a);
  EXPECT_FALSE(b.alive());
}

TEST_F(Ties, a_pair_is_linked_at_most_once) {
  in(b, [&](Probe& me) {
    me.trap_exit();
    me.link(a);
    me.link(a);
  });
  in(a, [&](Probe& me) { me.link(b); });
  crash(a);
  EXPECT_EQ(of_b.exits.size(), 1U);
}

TEST_F(Ties, one_unlink_cuts_a_link_that_was_asked_for_twice_and_from_both_sides) {
  in(a, [&](Probe& me) { me.link(b); });
  in(b, [&](Probe& me) { me.link(a); });
  in(a, [&](Probe& me) { me.unlink(b); });
  crash(b);
  EXPECT_TRUE(a.alive());
}

TEST_F(Ties, linking_to_one_that_has_ended_gives_noproc) {
  crash(b);
  in(a, [&](Probe& me) { me.link(b); });
  EXPECT_EQ(a.ended().get(), ExitReason::noproc());
}

TEST_F(Ties, a_trapping_actor_is_told_noproc_and_lives) {
  crash(b);
  in(a, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
  });
  ASSERT_EQ(of_a.exits.size(), 1U);
  EXPECT_EQ(of_a.exits[0].reason, ExitReason::noproc());
  EXPECT_EQ(of_a.exits[0].from, b.id());
}

TEST_F(Ties, linking_to_itself_does_nothing) {
  in(a, [&](Probe& me) { me.link(a); });
  EXPECT_TRUE(a.alive());
  EXPECT_EQ(a.stop().valid(), true);
}

TEST_F(Ties, normal_ends_pass_over_links_unless_trapped) {
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

TEST_F(Ties, shutdown_passes_through_links) {
  in(a, [&](Probe& me) { me.link(b); });
  in(b, [](Probe& me) { me.exit(ExitReason::shutdown("no work left")); });
  EXPECT_EQ(a.ended().get(), ExitReason::shutdown("no work left"));
  EXPECT_EQ(a.ended().get().word(), "no work left");
}

TEST_F(Ties, an_exit_passes_along_a_chain_of_links) {
  Journal of_c;
  const auto c = probe(of_c, "c");
  in(a, [&](Probe& me) { me.link(b); });
  in(b, [&](Probe& me) { me.link(c); });
  crash(c);
  EXPECT_FALSE(a.alive());
  EXPECT_EQ(a.ended().get().error()->reason(), "on purpose");
}

TEST_F(Ties, after_unlink_the_link_has_no_effect_even_if_its_signal_queues) {
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

TEST_F(Ties, unlink_can_flush_the_exit_that_already_queues) {
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

// --- exit signals --------------------------------------------------------------------------------

TEST_F(Ties, exit_ends_another_with_the_reason) {
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(a.ended().get(), ExitReason::shutdown());
}

TEST_F(Ties, exit_overtakes_messages_that_wait) {
  EXPECT_TRUE(a.cast(1));
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_TRUE(of_a.notes.empty());
}

TEST_F(Ties, exit_with_normal_is_dropped_unless_the_other_traps) {
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

TEST_F(Ties, exit_of_itself_with_normal_does_end_it) {
  in(a, [](Probe& me) { me.self().cell()->exit(ExitReason::normal(), me.self().id()); });
  EXPECT_EQ(a.ended().get(), ExitReason::normal());
}

TEST_F(Ties, trapped_exits_become_messages_behind_those_sent_before) {
  in(a, [](Probe& me) { me.trap_exit(); });
  EXPECT_TRUE(a.cast(1));
  EXPECT_TRUE(a.cast(2));
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(of_a.order, (std::vector<std::string>{"1", "2", "exit"}));
}

TEST_F(Ties, kill_cannot_be_trapped_and_the_victims_reason_is_killed) {
  in(a, [](Probe& me) { me.trap_exit(); });
  a.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_EQ(a.ended().get(), ExitReason::killed());
}

TEST_F(Ties, a_kill_through_a_link_can_be_trapped_and_is_not_renamed) {
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

TEST_F(Ties, one_that_was_killed_tells_its_links_killed) {
  in(a, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
  });
  b.exit(ExitReason::kill());
  executor->run_all();
  ASSERT_EQ(of_a.exits.size(), 1U);
  EXPECT_EQ(of_a.exits[0].reason, ExitReason::killed());
}

TEST_F(Ties, exit_of_one_that_has_ended_is_silent) {
  crash(a);
  a.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_EQ(a.ended().get().kind(), ExitReason::Kind::error);
}

TEST_F(Ties, a_signal_finds_room_in_a_full_mailbox) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(a.cast(i));
  EXPECT_FALSE(a.cast(4));
  a.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_FALSE(a.alive());
}

// --- monitors ------------------------------------------------------------------------------------

TEST_F(Ties, a_monitor_is_told_once_and_the_watcher_lives) {
  MonitorRef ref;
  in(a, [&](Probe& me) { ref = me.monitor(b); });
  crash(b);
  ASSERT_EQ(of_a.downs.size(), 1U);
  EXPECT_EQ(of_a.downs[0].monitor, ref);
  EXPECT_EQ(of_a.downs[0].from, b.id());
  EXPECT_EQ(of_a.downs[0].name, "b");
  EXPECT_EQ(of_a.downs[0].reason.error()->reason(), "on purpose");
  EXPECT_TRUE(a.alive());
}

TEST_F(Ties, a_monitor_is_one_way) {
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(b)); });
  crash(a);
  EXPECT_TRUE(b.alive());
  EXPECT_TRUE(of_b.downs.empty());
}

TEST_F(Ties, each_call_of_monitor_counts) {
  in(a, [&](Probe& me) {
    static_cast<void>(me.monitor(b));
    static_cast<void>(me.monitor(b));
  });
  in(b, [](Probe& me) { me.exit(ExitReason::normal()); });
  ASSERT_EQ(of_a.downs.size(), 2U);
  EXPECT_NE(of_a.downs[0].monitor, of_a.downs[1].monitor);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::normal());
}

TEST_F(Ties, watching_one_that_has_ended_tells_noproc_at_once) {
  crash(b);
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(b)); });
  ASSERT_EQ(of_a.downs.size(), 1U);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::noproc());
}

TEST_F(Ties, after_demonitor_nothing_is_told) {
  in(a, [&](Probe& me) { EXPECT_TRUE(me.demonitor(me.monitor(b))); });
  crash(b);
  EXPECT_TRUE(of_a.downs.empty());
}

TEST_F(Ties, demonitor_can_flush_what_already_queues) {
  crash(b);
  in(a, [&](Probe& me) { EXPECT_FALSE(me.demonitor(me.monitor(b), Flush::yes)); });
  EXPECT_TRUE(of_a.downs.empty());
  in(a, [&](Probe& me) { EXPECT_FALSE(me.demonitor(me.monitor(b), Flush::no)); });
  EXPECT_EQ(of_a.downs.size(), 1U);
}

TEST_F(Ties, what_was_sent_before_the_end_arrives_before_the_word_of_it) {
  in(a, [&](Probe& me) {
    me.trap_exit();
    me.link(b);
    static_cast<void>(me.monitor(b));
  });
  in(b, [&](Probe& me) {
    EXPECT_TRUE(a.cast(7));
    me.exit(ExitReason::shutdown());
  });
  ASSERT_EQ(of_a.order.size(), 3U);
  EXPECT_EQ(of_a.order[0], "7");
}

TEST_F(Ties, word_of_an_end_comes_after_all_that_was_held_is_free) {
  struct Holder final : Actor {
    explicit Holder(std::shared_ptr<int> what) : held{std::move(what)} {}
    void on(int) { throw std::runtime_error{"on purpose"}; }
    std::shared_ptr<int> held;
  };
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch{held};
  const auto holder = spawn<Holder>(executor, {.name = "holder"}, std::move(held));
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(holder)); });
  EXPECT_TRUE(holder.cast(1));
  while (of_a.downs.empty()) {
    const bool freed = watch.expired();
    ASSERT_TRUE(executor->run_one());
    EXPECT_TRUE(freed || of_a.downs.empty());
  }
}

// --- ends ----------------------------------------------------------------------------------------

TEST_F(Ties, terminate_is_the_last_call_and_learns_the_reason) {
  EXPECT_TRUE(a.cast(1));
  const auto ended = a.stop({.reason = ExitReason::shutdown("enough")});
  EXPECT_TRUE(a.cast(2));
  executor->run_all();
  EXPECT_EQ(ended.get(), ExitReason::shutdown("enough"));
  EXPECT_EQ(of_a.order, (std::vector<std::string>{"1", "{shutdown, enough}"}));
}

TEST_F(Ties, a_crash_in_terminate_becomes_the_reason) {
  struct Clumsy final : Actor {
    void terminate(const ExitReason&) override { throw std::runtime_error{"too late"}; }
  };
  const auto clumsy = spawn<Clumsy>(executor, {.name = "clumsy"});
  const auto ended = clumsy.stop();
  executor->run_all();
  EXPECT_EQ(ended.get().error()->reason(), "too late");
}

TEST_F(Ties, stop_kills_what_does_not_end_in_time) {
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

TEST_F(Ties, stop_in_time_kills_nobody) {
  const auto ended = a.stop({.patience = std::chrono::seconds{5}});
  executor->run_all();
  clock.advance(std::chrono::seconds{5});
  executor->run_all();
  EXPECT_EQ(ended.get(), ExitReason::normal());
}

TEST_F(Ties, an_actor_that_nobody_can_reach_ends_and_says_so) {
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(b)); });
  b = {};
  executor->run_all();
  ASSERT_EQ(of_a.downs.size(), 1U);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::shutdown());
}

TEST_F(Ties, calls_learn_why_the_actor_has_ended) {
  const auto waiting = a.call(Doing{[](Probe& me) { me.exit(ExitReason::shutdown("done")); }});
  executor->run_all();
  EXPECT_EQ(waiting.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(waiting.wait().error().detail("exit_reason"), "{shutdown, done}");
}

// --- many threads --------------------------------------------------------------------------------

/// Waits for `expected` words of ends.
class Watcher final : public Actor {
 public:
  explicit Watcher(std::size_t expected) : left_{expected} {}
  void on(const ActorAddress& target) { static_cast<void>(monitor(target)); }
  std::promise<void> all;

 private:
  void on_down(const Down&) override {
    if (--left_ == 0) all.set_value();
  }
  std::size_t left_;
};

TEST(TiesOnAPool, stress_every_monitor_is_told_exactly_once_whenever_its_target_ends) {
  constexpr std::size_t count = 300;
  const auto pool = make_thread_pool(std::make_shared<SystemClock>(), {2, "test"});
  const auto watcher = spawn<Watcher>(pool, {.name = "watcher"}, count);
  auto all = watcher.get()->all.get_future();
  struct Idle final : Actor {};
  std::vector<ActorAddress> targets;
  for (std::size_t i = 0; i < count; ++i) targets.push_back(spawn<Idle>(pool, {.name = "target"}));
  {
    std::jthread killing{[&] {
      for (const auto& target : targets) target.exit(ExitReason::kill());
    }};
    for (const auto& target : targets) EXPECT_TRUE(watcher.cast(target));
  }
  all.get();
  // A word too many would end the watcher: its promise can be kept only once.
  static_cast<void>(watcher.stop().get());
  EXPECT_EQ(watcher.ended().get(), ExitReason::normal());
}

TEST(TiesOnAPool, stress_links_that_come_and_go_leave_none_behind_that_should_have_ended) {
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
