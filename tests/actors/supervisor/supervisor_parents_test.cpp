// Whom supervisors and their children obey.
#include "stoker/actors/supervisor/supervisor.hpp"

#include "stoker/tests/actors/probe.hpp"
#include "supervised.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

/// Traps exits, and has not heard of parents.
class Trapping final : public Actor {
 public:
  struct Trap {};
  explicit Trapping(Diary* diary) : diary_{diary} {}
  void on(Trap) { trap_exit(); }

 private:
  void on_exit(const Exit& exit) override { diary_->push_back("told " + exit.reason.to_string()); }
  void terminate(const ExitReason& why) override { diary_->push_back("ends: " + why.to_string()); }
  Diary* diary_;
};

TEST_F(Supervisors, end_children_that_trap_exits) {
  ActorRef<Trapping> trapping;
  ChildSpec spec = worker("trapping");
  spec.start = [&](const ChildStart& context) -> Result<ActorAddress> {
    trapping = context.spawn<Trapping>({.name = "trapping"}, &diary);
    STOKER_TRY(trapping.cast(Trapping::Trap{}));
    return ActorAddress{trapping};
  };
  for (const bool killed : {false, true}) {
    start({}, {spec});
    executor->run_all();
    trapping.exit(ExitReason::shutdown("a stranger"));
    executor->run_all();
    supervisor.exit(killed ? ExitReason::kill() : ExitReason::shutdown());
    executor->run_all();
    EXPECT_EQ(diary,
              (Diary{"told {shutdown, a stranger}", killed ? "ends: killed" : "ends: shutdown"}));
    EXPECT_FALSE(supervisor.alive());
    EXPECT_TRUE(reports.empty());
  }
}

TEST_F(Supervisors, end_for_their_parent_and_the_program_and_ignore_others) {
  Journal of_stranger;
  const auto stranger = spawn<Probe>(executor, {.name = "stranger"}, of_stranger);
  start({}, {worker("a")});
  ASSERT_TRUE(stranger.cast(Doing{[&](Probe&) { supervisor.exit(ExitReason::shutdown()); }}));
  executor->run_all();
  EXPECT_TRUE(runs("a"));
  ASSERT_TRUE(stranger.cast(Doing{[&](Probe&) { static_cast<void>(supervisor.stop()); }}));
  executor->run_all();
  EXPECT_FALSE(supervisor.alive()) << "stop() is anybody's";

  Supervisor own;
  ASSERT_TRUE(stranger.cast(Doing{[&](Probe&) { own = spawn_supervisor(executor, {}, {}); }}));
  executor->run_all();
  ASSERT_TRUE(stranger.cast(Doing{[&](Probe&) { own.exit(ExitReason::shutdown()); }}));
  executor->run_all();
  EXPECT_FALSE(own.alive()) << "who started it is its parent";
}

TEST_F(Supervisors, do_not_take_an_exit_signal_of_a_child_for_its_end) {
  Journal of_child;
  start({}, {child<Probe>("probe", std::ref(of_child))});
  const auto children = answer(supervisor.which_children());
  const auto probe = actor_cast<Probe>(children.at(0).actor);
  ASSERT_TRUE(probe.cast(Doing{[&](Probe&) { supervisor.exit(ExitReason::shutdown()); }}));
  executor->run_all();
  EXPECT_TRUE(probe.alive());
  EXPECT_EQ(answer(supervisor.which_children()).at(0).actor, children.at(0).actor);
  EXPECT_TRUE(reports.empty());
  answer(supervisor.stop());
}

TEST_F(Supervisors, end_with_a_parent_that_has_ended_before) {
  Journal of_parent;
  const auto parent = spawn<Probe>(executor, {.name = "parent"}, of_parent);
  answer(parent.stop());
  const Supervisor orphan = spawn_supervisor(executor, {.parent = parent}, {worker("a")});
  executor->run_all();
  EXPECT_FALSE(orphan.alive());
  EXPECT_FALSE(runs("a"));
}

TEST_F(Supervisors, stop_their_children_before_they_end_with_their_parent) {
  start({.name = "root"},
        {worker("first"),
         supervisor_child({.name = "branch", .on_report = {}}, {worker("x"), worker("y")}),
         worker("last")});
  supervisor.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(diary, (Diary{"-last", "-y", "-x", "-first"}));
}

TEST_F(Supervisors, are_children_like_others_when_they_give_up) {
  start({.name = "root", .intensity = 5},
        {supervisor_child({.name = "branch", .intensity = 0}, {worker("x")}), worker("z")});
  end("x", crashed());
  EXPECT_EQ(diary, (Diary{"-x", "+x"})) << "the branch gave up and was started again";
  EXPECT_TRUE(runs("x"));
  EXPECT_TRUE(runs("z"));
}

}  // namespace
}  // namespace stoker
