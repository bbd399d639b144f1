// Children that are added, terminated and asked for while a supervisor runs.
#include "stoker/actors/supervisor/supervisor.hpp"

#include "supervised.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

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

TEST_F(Supervisors, start_a_child_again_as_soon_as_the_one_before_has_ended) {
  start({}, {worker("t", Restart::temporary)});
  const Future<ExitReason> ended = last.at("t").stop();
  while (!ended.ready() && executor->run_one()) {
  }
  ASSERT_TRUE(ended.ready());
  EXPECT_TRUE(answer(supervisor.start_child(worker("t", Restart::temporary))).alive());
  EXPECT_TRUE(runs("t"));
  EXPECT_EQ(answer(supervisor.count_children()).specs, 1U);
}

TEST_F(Supervisors, restart_and_delete_a_child_as_soon_as_it_has_ended) {
  start({}, {worker("again", Restart::transient), worker("gone", Restart::transient)});
  const auto end = [&](const char* id) {
    const Future<ExitReason> ended = last.at(id).stop();
    while (!ended.ready() && executor->run_one()) {
    }
    ASSERT_TRUE(ended.ready());
  };
  end("again");
  EXPECT_TRUE(answer(supervisor.restart_child("again")).alive());
  end("gone");
  answer(supervisor.delete_child("gone"));
  EXPECT_EQ(answer(supervisor.count_children()).specs, 1U);
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

}  // namespace
}  // namespace stoker
