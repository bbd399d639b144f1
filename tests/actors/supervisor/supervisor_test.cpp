// Starting a supervisor; children whose planned end is its end, too.
#include "stoker/actors/supervisor/supervisor.hpp"

#include "supervised.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

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
