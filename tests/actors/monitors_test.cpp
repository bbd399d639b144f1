#include <future>
#include <thread>

#include "probe.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"

namespace stoker {
namespace {

class Monitors : public Probes {};

TEST_F(Monitors, a_monitor_is_told_once_and_the_watcher_lives) {
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

TEST_F(Monitors, a_monitor_is_one_way) {
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(b)); });
  crash(a);
  EXPECT_TRUE(b.alive());
  EXPECT_TRUE(of_b.downs.empty());
}

TEST_F(Monitors, each_call_of_monitor_counts) {
  in(a, [&](Probe& me) {
    static_cast<void>(me.monitor(b));
    static_cast<void>(me.monitor(b));
  });
  in(b, [](Probe& me) { me.exit(ExitReason::normal()); });
  ASSERT_EQ(of_a.downs.size(), 2U);
  EXPECT_NE(of_a.downs[0].monitor, of_a.downs[1].monitor);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::normal());
}

TEST_F(Monitors, watching_one_that_has_ended_tells_noproc_at_once) {
  crash(b);
  in(a, [&](Probe& me) { static_cast<void>(me.monitor(b)); });
  ASSERT_EQ(of_a.downs.size(), 1U);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::noproc());
}

TEST_F(Monitors, after_demonitor_nothing_is_told) {
  in(a, [&](Probe& me) { EXPECT_TRUE(me.demonitor(me.monitor(b))); });
  crash(b);
  EXPECT_TRUE(of_a.downs.empty());
}

TEST_F(Monitors, demonitor_can_flush_what_already_queues) {
  crash(b);
  in(a, [&](Probe& me) { EXPECT_FALSE(me.demonitor(me.monitor(b), Flush::yes)); });
  EXPECT_TRUE(of_a.downs.empty());
  in(a, [&](Probe& me) { EXPECT_FALSE(me.demonitor(me.monitor(b), Flush::no)); });
  EXPECT_EQ(of_a.downs.size(), 1U);
}

TEST_F(Monitors, what_was_sent_before_the_end_arrives_before_the_word_of_it) {
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

TEST_F(Monitors, word_of_an_end_comes_after_all_that_was_held_is_free) {
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

TEST(MonitorsOnAPool, stress_every_monitor_is_told_exactly_once_whenever_its_target_ends) {
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

}  // namespace
}  // namespace stoker
