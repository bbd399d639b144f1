// How a supervisor stops its children.
#include "stoker/actors/supervisor/supervisor.hpp"

#include "supervised.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

TEST_F(Supervisors, stop_their_children_in_reverse_order) {
  start({}, {worker("a"), worker("b"), worker("c")});
  supervisor.exit(ExitReason::shutdown());
  EXPECT_EQ(answer(supervisor.ended()), ExitReason::shutdown());
  EXPECT_EQ(diary, (Diary{"-c", "-b", "-a"}));
  EXPECT_TRUE(reports.empty());
}

TEST_F(Supervisors, can_be_stopped_like_any_actor) {
  start({}, {worker("a"), worker("b")});
  EXPECT_EQ(answer(supervisor.stop()), ExitReason::normal());
  EXPECT_EQ(diary, (Diary{"-b", "-a"}));
}

TEST_F(Supervisors, take_their_children_along_when_they_are_killed) {
  start({}, {worker("a"), worker("b")});
  supervisor.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_FALSE(runs("a"));
  EXPECT_FALSE(runs("b"));
  EXPECT_EQ(last["a"].ended().get(), ExitReason::killed());
  EXPECT_EQ(last["b"].ended().get(), ExitReason::killed());
}

TEST_F(Supervisors, that_nobody_can_reach_end_with_their_children) {
  start({}, {worker("a")});
  supervisor = {};
  executor->run_all();
  EXPECT_FALSE(runs("a"));
}

/// Takes the time that the test gives it.
class Slow final : public Actor {
 public:
  struct Trap {};
  struct Finish {};
  explicit Slow(Diary* diary) : diary_{diary} {}
  ~Slow() override { diary_->push_back("-slow"); }
  void on(Trap) { trap_exit(); }
  void on(Finish) { leave(ExitReason::shutdown()); }

 private:
  void on_parent_exit(const Exit& exit) override {
    diary_->push_back("slow was told " + exit.reason.to_string());
  }
  Diary* diary_;
};

class SlowToStop : public Supervisors {
 protected:
  [[nodiscard]] ChildSpec slow_child() {
    ChildSpec spec;
    spec.id = "slow";
    spec.shutdown = Shutdown::infinity();
    spec.start = [this](const ChildStart& context) -> Result<ActorAddress> {
      slow = context.spawn<Slow>({.name = "slow"}, &diary);
      STOKER_TRY(slow.cast(Slow::Trap{}));
      return ActorAddress{slow};
    };
    return spec;
  }
  void finish() {
    ASSERT_TRUE(slow.cast(Slow::Finish{}));
    executor->run_all();
  }
  ActorRef<Slow> slow;
};

TEST_F(SlowToStop, supervisors_that_were_told_to_end_keep_themselves) {
  start({}, {worker("database"), slow_child()});
  supervisor.exit(ExitReason::shutdown());
  const auto ended = supervisor.ended();
  supervisor = {};  // the last address of it
  executor->run_all();
  EXPECT_EQ(diary, (Diary{"slow was told shutdown"}));
  finish();
  EXPECT_EQ(diary, (Diary{"slow was told shutdown", "-slow", "-database"}));
  EXPECT_EQ(ended.get(), ExitReason::shutdown());
}

TEST_F(SlowToStop, supervisors_that_were_told_twice_keep_the_order) {
  start({}, {worker("database"), slow_child()});
  supervisor.exit(ExitReason::shutdown());
  executor->run_all();
  supervisor.exit(ExitReason::shutdown());
  const auto ended = supervisor.stop();
  executor->run_all();
  EXPECT_EQ(diary, (Diary{"slow was told shutdown"}));
  finish();
  EXPECT_EQ(diary, (Diary{"slow was told shutdown", "-slow", "-database"}));
  EXPECT_EQ(ended.get(), ExitReason::shutdown());
}

TEST_F(SlowToStop, a_child_that_is_terminated_is_waited_for_although_its_supervisor_is_stopped) {
  start({}, {worker("database"), slow_child()});
  const auto terminated = supervisor.terminate_child(std::string{"slow"});
  executor->run_all();
  const auto ended = supervisor.stop();
  executor->run_all();
  EXPECT_FALSE(terminated.ready());
  EXPECT_EQ(diary, (Diary{"slow was told shutdown"}));
  finish();
  EXPECT_TRUE(terminated.wait().has_value());
  EXPECT_EQ(ended.get(), ExitReason::normal());
  EXPECT_EQ(diary, (Diary{"slow was told shutdown", "-slow", "-database"}));
}

TEST_F(SlowToStop, a_kill_ends_a_supervisor_that_waits) {
  start({}, {worker("database"), slow_child()});
  supervisor.exit(ExitReason::shutdown());
  executor->run_all();
  supervisor.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_EQ(supervisor.ended().get(), ExitReason::killed());
  EXPECT_FALSE(runs("database"));
  finish();
}

class Stopping : public Supervisors {
 protected:
  /// Starts a supervisor of one stubborn child.
  void start_stubborn(std::optional<Shutdown> shutdown) {
    ChildSpec spec;
    spec.id = "stubborn";
    spec.shutdown = shutdown;
    spec.start = [this](const ChildStart& context) -> Result<ActorAddress> {
      stubborn = spawn_stubborn(context.executor());
      return stubborn;
    };
    start({.kill_patience = 7s}, {spec});
    executor->run_all();
  }
  ActorAddress stubborn;
};

TEST_F(Stopping, kills_a_child_that_does_not_end_in_time) {
  start_stubborn(Shutdown{2s});
  const auto stopped = supervisor.terminate_child(std::string{"stubborn"});
  executor->run_all();
  clock.advance(2s - 1ns);
  executor->run_all();
  EXPECT_TRUE(stubborn.alive());
  clock.advance(1ns);
  executor->run_all();
  EXPECT_TRUE(stopped.ready());
  EXPECT_EQ(stubborn.ended().get(), ExitReason::killed());
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].event, SupervisorReport::Event::shutdown_error);
}

TEST_F(Stopping, gives_a_worker_five_seconds_by_default) {
  start_stubborn({});
  const auto stopped = supervisor.terminate_child(std::string{"stubborn"});
  executor->run_all();
  clock.advance(5s - 1ns);
  executor->run_all();
  EXPECT_FALSE(stopped.ready());
  clock.advance(1ns);
  executor->run_all();
  EXPECT_TRUE(stopped.ready());
}

TEST_F(Stopping, gives_a_supervisor_for_ever_by_default) {
  EXPECT_TRUE(supervisor_child({}, {}).stopped_by().waits_for_ever());
}

TEST_F(Stopping, with_brutal_kill_asks_nobody) {
  start_stubborn(Shutdown::brutal_kill());
  answer(supervisor.terminate_child(std::string{"stubborn"}));
  EXPECT_EQ(stubborn.ended().get(), ExitReason::killed());
  EXPECT_TRUE(reports.empty()) << "that was asked for";
}

TEST_F(Stopping, with_infinity_waits) {
  start_stubborn(Shutdown::infinity());
  const auto stopped = supervisor.terminate_child(std::string{"stubborn"});
  executor->run_all();
  clock.advance(24h);
  executor->run_all();
  EXPECT_FALSE(stopped.ready());
  stubborn.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_TRUE(stopped.ready());
}

TEST_F(Stopping, is_not_held_up_by_a_child_that_has_unlinked_itself) {
  ActorRef<Loner> loner;
  ChildSpec spec;
  spec.id = "loner";
  spec.start = [&](const ChildStart& context) -> Result<ActorAddress> {
    loner = context.spawn<Loner>({.name = "loner"});
    return ActorAddress{loner};
  };
  start({}, {spec});
  ASSERT_TRUE(loner.cast(ActorAddress{supervisor}));
  executor->run_all();
  answer(supervisor.terminate_child(std::string{"loner"}));
  EXPECT_FALSE(loner.alive());
}

TEST_F(Stopping, leaves_a_handler_behind_that_does_not_return) {
  // It runs in another executor, which does not run.
  const auto elsewhere = std::make_shared<ManualExecutor>(clock);
  ActorAddress stuck;
  ChildSpec spec;
  spec.id = "stuck";
  spec.shutdown = Shutdown::brutal_kill();
  spec.start = [&](const ChildStart&) -> Result<ActorAddress> {
    stuck = spawn<Child>(elsewhere, {.name = "stuck"}, &diary, "stuck");
    return stuck;
  };
  start({.kill_patience = 1s}, {spec, worker("a")});
  const auto stopped = supervisor.terminate_child(std::string{"stuck"});
  executor->run_all();
  EXPECT_FALSE(stopped.ready());
  clock.advance(1s);
  executor->run_all();
  EXPECT_TRUE(stopped.ready());
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].event, SupervisorReport::Event::left_behind);
  elsewhere->run_all();
}

}  // namespace
}  // namespace stoker
