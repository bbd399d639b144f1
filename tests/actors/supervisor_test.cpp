// Starting, stopping and asking a supervisor.
#include "stoker/actors/supervisor.hpp"

#include "probe.hpp"
#include "supervised.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class Supervisors : public Supervised {
 protected:
  [[nodiscard]] Error failure_of(SupervisorOptions options, std::vector<ChildSpec> children) {
    options.on_report = [this](const SupervisorReport& said) { reports.push_back(said); };
    return refusal(start_supervisor(executor, std::move(options), std::move(children)));
  }
};

// --- starting ------------------------------------------------------------------------------------

TEST_F(Supervisors, start_their_children_in_order) {
  const auto started = start_supervisor(executor, {}, {worker("a"), worker("b"), worker("c")});
  supervisor = answer(started);
  EXPECT_EQ(diary, (Diary{"+a", "+b", "+c"}));
}

TEST_F(Supervisors, start_a_child_only_when_the_one_before_has_started) {
  Promise<void> ready;
  ChildSpec slow = worker("slow");
  slow.start = [start = slow.start, &ready](const ChildStart& context) {
    static_cast<void>(ready.future().wait());
    return start(context);
  };
  const auto started = start_supervisor(executor, {}, {slow, worker("next")});
  executor->run_all();
  EXPECT_TRUE(diary.empty());
  ready.set();
  supervisor = answer(started);
  EXPECT_EQ(diary, (Diary{"+slow", "+next"}));
}

TEST_F(Supervisors, stop_what_has_started_when_a_first_start_fails) {
  failing_starts["c"] = 1;
  const Error why = failure_of({}, {worker("a"), worker("b"), worker("c")});
  EXPECT_EQ(why.code(), ErrorCode::unsupported);
  EXPECT_EQ(why.detail("child"), "c");
  EXPECT_EQ(diary, (Diary{"+a", "+b", "-b", "-a"}));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].event, SupervisorReport::Event::start_error);
}

TEST_F(Supervisors, take_what_a_start_function_throws_as_its_failure) {
  ChildSpec throwing = worker("x");
  throwing.start = [](const ChildStart&) -> Result<ActorAddress> {
    throw std::runtime_error{"on purpose"};
  };
  EXPECT_NE(std::string{failure_of({}, {throwing}).what()}.find("on purpose"), std::string::npos);
}

TEST_F(Supervisors, keep_a_child_that_has_nothing_to_run) {
  ChildSpec ignored = worker("x");
  ignored.start = [](const ChildStart&) -> Result<ActorAddress> { return ActorAddress{}; };
  start({}, {ignored, worker("a")});
  const ChildCount count = answer(supervisor.count_children());
  EXPECT_EQ(count.specs, 2U);
  EXPECT_EQ(count.active, 1U);
}

TEST_F(Supervisors, forget_a_temporary_child_that_has_nothing_to_run) {
  ChildSpec ignored = worker("x", Restart::temporary);
  ignored.start = [](const ChildStart&) -> Result<ActorAddress> { return ActorAddress{}; };
  start({}, {ignored, worker("a")});
  EXPECT_EQ(answer(supervisor.count_children()).specs, 1U);
  EXPECT_EQ(refusal(supervisor.restart_child("x")).code(), ErrorCode::not_found);
}

TEST_F(Supervisors, refuse_options_that_contradict_themselves) {
  ChildSpec significant = worker("a");
  significant.significant = true;
  EXPECT_EQ(failure_of({.auto_shutdown = AutoShutdown::any_significant}, {significant}).code(),
            ErrorCode::invalid_argument)
      << "a permanent child is not significant";
  significant.restart = Restart::transient;
  EXPECT_EQ(failure_of({}, {significant}).code(), ErrorCode::invalid_argument)
      << "auto_shutdown never has no significant children";
  EXPECT_EQ(failure_of({}, {worker("a"), worker("a")}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(failure_of({.strategy = Strategy::simple_one_for_one}, {}).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(failure_of({.period = 0s}, {}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(failure_of({}, {ChildSpec{.id = "a"}}).code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(diary.empty());
}

// --- stopping ------------------------------------------------------------------------------------

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
  const auto probe = actor_cast<Probe>(children.at(0).actor).value();
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

/// Ignores `shutdown`.
[[nodiscard]] ActorAddress spawn_stubborn(const std::shared_ptr<Executor>& executor) {
  return spawn_process<>(executor, {.name = "stubborn"}, [](auto& self) {
    self.trap_exit();
    for (;;) self.receive([](const Exit&) {});
  });
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

/// Unlinks itself from whoever it is told.
class Loner final : public Actor {
 public:
  void on(const ActorAddress& from) { unlink(from); }
};

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

// --- children on demand --------------------------------------------------------------------------

TEST_F(Supervisors, start_a_child_that_is_added) {
  start({}, {worker("a")});
  EXPECT_TRUE(answer(supervisor.start_child(worker("b"))).alive());
  end("b", crashed());
  EXPECT_TRUE(runs("b"));
}

TEST_F(Supervisors, refuse_a_second_child_of_the_same_id) {
  start({}, {worker("a")});
  Error why = refusal(supervisor.start_child(worker("a")));
  EXPECT_EQ(why.code(), ErrorCode::already_exists);
  EXPECT_EQ(why.detail("state"), "running");
  answer(supervisor.terminate_child(std::string{"a"}));
  why = refusal(supervisor.start_child(worker("a")));
  EXPECT_EQ(why.detail("state"), "stopped");
}

TEST_F(Supervisors, do_not_keep_a_child_that_failed_to_start) {
  start({}, {});
  failing_starts["a"] = 1;
  EXPECT_EQ(refusal(supervisor.start_child(worker("a"))).code(), ErrorCode::unsupported);
  EXPECT_EQ(answer(supervisor.count_children()).specs, 0U);
  EXPECT_TRUE(answer(supervisor.start_child(worker("a"))).alive());
}

TEST_F(Supervisors, terminate_restart_and_delete_children) {
  start({}, {worker("a"), worker("b")});
  EXPECT_EQ(refusal(supervisor.restart_child("a")).code(), ErrorCode::already_exists);
  EXPECT_EQ(refusal(supervisor.delete_child("a")).code(), ErrorCode::already_exists);
  answer(supervisor.terminate_child(std::string{"a"}));
  EXPECT_FALSE(runs("a"));
  EXPECT_TRUE(answer(supervisor.restart_child("a")).alive());
  EXPECT_TRUE(runs("a"));
  answer(supervisor.terminate_child(std::string{"a"}));
  answer(supervisor.terminate_child(std::string{"a"}));  // it is stopped: nothing to do
  answer(supervisor.delete_child("a"));
  EXPECT_EQ(refusal(supervisor.restart_child("a")).code(), ErrorCode::not_found);
  EXPECT_EQ(refusal(supervisor.terminate_child(std::string{"a"})).code(), ErrorCode::not_found);
  EXPECT_TRUE(runs("b"));
}

TEST_F(Supervisors, forget_a_temporary_child_that_is_terminated) {
  start({}, {worker("t", Restart::temporary)});
  answer(supervisor.terminate_child(std::string{"t"}));
  EXPECT_EQ(answer(supervisor.count_children()).specs, 0U);
}

TEST_F(Supervisors, say_which_children_they_have) {
  start({.intensity = 5},
        {worker("a"), supervisor_child({.name = "branch"}, {}), worker("t", Restart::transient)});
  end("a", crashed());
  end("t", ExitReason::normal());
  const auto children = answer(supervisor.which_children());
  ASSERT_EQ(children.size(), 3U);
  EXPECT_EQ(children[0].id, "a");
  EXPECT_EQ(children[0].restarts, 1U);
  EXPECT_EQ(children[0].actor.id(), last["a"].id());
  EXPECT_EQ(children[1].kind, ChildKind::supervisor);
  EXPECT_EQ(children[2].state, ChildInfo::State::stopped);
  const ChildCount count = answer(supervisor.count_children());
  EXPECT_EQ(count.specs, 3U);
  EXPECT_EQ(count.active, 2U);
  EXPECT_EQ(count.supervisors, 1U);
  EXPECT_EQ(count.workers, 2U);
}

TEST_F(Supervisors, of_one_specification_start_children_with_arguments) {
  ChildSpec spec;
  spec.restart = Restart::temporary;
  spec.start = [this](const ChildStart& context) -> Result<ActorAddress> {
    const auto& name = context.argument<std::string>();
    last[name] = context.spawn<Child>({.name = name}, &diary, name);
    return ActorAddress{last[name]};
  };
  start({.strategy = Strategy::simple_one_for_one}, {spec});
  const ActorAddress x = answer(supervisor.start_child(std::string{"x"}));
  EXPECT_TRUE(answer(supervisor.start_child(std::string{"y"})).alive());
  EXPECT_EQ(diary, (Diary{"+x", "+y"}));
  EXPECT_NE(std::string{refusal(supervisor.start_child(7)).what()}.find("any_cast"),
            std::string::npos);
  answer(supervisor.terminate_child(x.id()));
  EXPECT_FALSE(runs("x"));
  EXPECT_TRUE(runs("y"));
  EXPECT_EQ(refusal(supervisor.start_child(worker("z"))).code(), ErrorCode::invalid_argument);
}

TEST_F(Supervisors, of_one_specification_stop_all_at_once_within_one_time) {
  ChildSpec spec;
  spec.shutdown = Shutdown{2s};
  spec.start = [&](const ChildStart& context) -> Result<ActorAddress> {
    return spawn_stubborn(context.executor());
  };
  start({.strategy = Strategy::simple_one_for_one}, {spec});
  for (int i = 0; i < 10; ++i) answer(supervisor.start_child());
  supervisor.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_TRUE(supervisor.alive());
  clock.advance(2s);
  executor->run_all();
  EXPECT_FALSE(supervisor.alive()) << "not twenty seconds";
}

TEST_F(Supervisors, of_one_specification_leave_all_behind_within_one_time) {
  const auto elsewhere = std::make_shared<ManualExecutor>(clock);  // which does not run
  ChildSpec spec = worker("x");
  spec.shutdown = Shutdown{2s};
  spec.start = [&](const ChildStart&) -> Result<ActorAddress> {
    return ActorAddress{spawn<Child>(elsewhere, {.name = "stuck"}, &diary, "stuck")};
  };
  start({.strategy = Strategy::simple_one_for_one, .kill_patience = 1s}, {spec});
  for (int i = 0; i < 10; ++i) answer(supervisor.start_child());
  supervisor.exit(ExitReason::shutdown());
  for (const auto time : {2s, 1s}) {
    executor->run_all();
    EXPECT_TRUE(supervisor.alive());
    clock.advance(time);
  }
  executor->run_all();
  EXPECT_FALSE(supervisor.alive());
  EXPECT_EQ(reports.size(), 10U);
  elsewhere->run_all();
}

// Each is found at once among the others; else this takes minutes.
TEST_F(Supervisors, of_one_specification_start_and_stop_a_hundred_thousand) {
  constexpr int count = 100'000;
  ChildSpec spec = worker("x", Restart::temporary);
  spec.start = [](const ChildStart& context) -> Result<ActorAddress> {
    return ActorAddress{context.spawn<Loner>({.name = "x"})};
  };
  start({.strategy = Strategy::simple_one_for_one}, {spec});
  for (int i = 0; i < count; i += 1000) {
    for (int k = 0; k < 1000; ++k) static_cast<void>(supervisor.start_child());
    executor->run_all();
  }
  EXPECT_EQ(answer(supervisor.count_children()).active, std::size_t{count});
  supervisor.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Supervisors, with_different_children_start_and_stop_ten_thousand) {
  constexpr int count = 10'000;
  start({}, {});
  std::vector<ActorAddress> all;
  for (int i = 0; i < count; ++i) {
    ChildSpec spec = worker("x", Restart::temporary);
    spec.id = std::to_string(i);
    spec.start = [&](const ChildStart& context) -> Result<ActorAddress> {
      return all.emplace_back(context.spawn<Loner>({.name = "x"}));
    };
    answer(supervisor.start_child(spec));
  }
  // Their ends queue while they are stopped one by one.
  for (const ActorAddress& one : all) one.exit(ExitReason::kill());
  supervisor.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Supervisors, of_one_specification_take_no_id_for_a_child) {
  start({.strategy = Strategy::simple_one_for_one}, {worker("x", Restart::temporary)});
  const ActorAddress first = answer(supervisor.start_child());
  const ActorAddress second = answer(supervisor.start_child());
  for (const Error& why :
       {refusal(supervisor.terminate_child(std::string{"x"})),
        refusal(supervisor.restart_child("x")), refusal(supervisor.delete_child("x"))}) {
    EXPECT_EQ(why.code(), ErrorCode::invalid_argument);
    EXPECT_NE(why.reason().find("actor's id"), std::string_view::npos);
  }
  EXPECT_TRUE(first.alive());
  answer(supervisor.terminate_child(second.id()));
  EXPECT_TRUE(first.alive());
  EXPECT_FALSE(second.alive());
}

TEST_F(Supervisors, of_one_specification_forget_a_child_that_has_nothing_to_run_any_more) {
  bool ignore = false;
  ChildSpec spec = worker("x");
  spec.start = [start = spec.start, &ignore](const ChildStart& context) -> Result<ActorAddress> {
    if (ignore) return ActorAddress{};
    return start(context);
  };
  start({.strategy = Strategy::simple_one_for_one}, {spec});
  answer(supervisor.start_child());
  ignore = true;
  end("x", crashed());
  EXPECT_TRUE(answer(supervisor.which_children()).empty());
}

// --- significant children ------------------------------------------------------------------------

class Significant : public Supervisors {
 protected:
  [[nodiscard]] ChildSpec significant(const std::string& id, Restart restart) {
    ChildSpec spec = worker(id, restart);
    spec.significant = true;
    return spec;
  }
};

TEST_F(Significant, any_planned_end_ends_the_supervisor) {
  start({.auto_shutdown = AutoShutdown::any_significant},
        {worker("a"), significant("s", Restart::transient), significant("t", Restart::temporary)});
  end("s", ExitReason::normal());
  EXPECT_EQ(diary, (Diary{"-s", "-t", "-a"}));
  EXPECT_EQ(supervisor.ended().get(), ExitReason::shutdown());
}

TEST_F(Significant, a_crash_of_a_transient_one_is_restarted_instead) {
  start({.auto_shutdown = AutoShutdown::any_significant}, {significant("s", Restart::transient)});
  end("s", crashed());
  EXPECT_TRUE(supervisor.alive());
  EXPECT_TRUE(runs("s"));
}

TEST_F(Significant, a_crash_of_a_temporary_one_ends_the_supervisor) {
  start({.auto_shutdown = AutoShutdown::any_significant}, {significant("s", Restart::temporary)});
  end("s", crashed());
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Significant, the_last_of_all_ends_the_supervisor) {
  start({.auto_shutdown = AutoShutdown::all_significant},
        {worker("a"), significant("s", Restart::transient), significant("t", Restart::transient)});
  end("s", ExitReason::normal());
  EXPECT_TRUE(supervisor.alive());
  end("t", ExitReason::shutdown());
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Significant, an_explicit_stop_does_not_count) {
  start({.auto_shutdown = AutoShutdown::any_significant},
        {worker("a"), significant("s", Restart::transient)});
  answer(supervisor.terminate_child(std::string{"s"}));
  EXPECT_TRUE(supervisor.alive());
}

}  // namespace
}  // namespace stoker
