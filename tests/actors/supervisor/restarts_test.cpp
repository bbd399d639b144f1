// Who is restarted when a child ends: strategy × restart type × kind of exit.
#include <algorithm>

#include "supervised.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

struct Case {
  Strategy strategy;
  Restart restart;
  ExitReason why;
};

std::string name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::one_for_one: return "one_for_one";
    case Strategy::one_for_all: return "one_for_all";
    case Strategy::rest_for_one: return "rest_for_one";
    case Strategy::simple_one_for_one: break;
  }
  return "simple_one_for_one";
}
std::string name_of(Restart restart) {
  if (restart == Restart::permanent) return "permanent";
  return restart == Restart::transient ? "transient" : "temporary";
}
std::string name_of(const ExitReason& why) {
  switch (why.kind()) {
    case ExitReason::Kind::normal: return "normal";
    case ExitReason::Kind::shutdown: return why.word().empty() ? "shutdown" : "shutdown_word";
    case ExitReason::Kind::kill: return "kill";
    default: return "error";
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Strategy strategy : {Strategy::one_for_one, Strategy::one_for_all,
                                  Strategy::rest_for_one, Strategy::simple_one_for_one})
    for (const Restart restart : {Restart::permanent, Restart::transient, Restart::temporary})
      for (const ExitReason& why : {ExitReason::normal(), ExitReason::shutdown(),
                                    ExitReason::shutdown("enough"), ExitReason::kill(), crashed()})
        cases.push_back({strategy, restart, why});
  return cases;
}

class Restarts : public Supervised, public testing::WithParamInterface<Case> {
 protected:
  [[nodiscard]] static bool restarted() {
    const Case& now = GetParam();
    return now.restart == Restart::permanent ||
           (now.restart == Restart::transient && !now.why.planned());
  }
};

INSTANTIATE_TEST_SUITE_P(, Restarts, testing::ValuesIn(all_cases()), [](const auto& info) {
  return name_of(info.param.strategy) + "_" + name_of(info.param.restart) + "_" +
         name_of(info.param.why);
});

TEST_P(Restarts, concern_whom_the_strategy_says) {
  const Case& now = GetParam();
  if (now.strategy == Strategy::simple_one_for_one) {
    start({.strategy = now.strategy}, {worker("x", now.restart)});
    const ActorAddress first = answer(supervisor.start_child());
    const ActorAddress second = answer(supervisor.start_child());
    diary.clear();
    end("x", now.why);  // the second
    EXPECT_EQ(diary, restarted() ? (Diary{"-x", "+x"}) : (Diary{"-x"}));
    EXPECT_TRUE(first.alive());
    EXPECT_FALSE(second.alive());
    EXPECT_EQ(answer(supervisor.count_children()).active, restarted() ? 2U : 1U);
    return;
  }
  start({.strategy = now.strategy}, {worker("a"), worker("b", now.restart), worker("c")});
  end("b", now.why);
  Diary expected{"-b"};
  if (restarted()) {
    switch (now.strategy) {
      case Strategy::one_for_all: expected = {"-b", "-c", "-a", "+a", "+b", "+c"}; break;
      case Strategy::rest_for_one: expected = {"-b", "-c", "+b", "+c"}; break;
      default: expected = {"-b", "+b"}; break;
    }
  }
  EXPECT_EQ(diary, expected);
  EXPECT_TRUE(runs("a"));
  EXPECT_EQ(runs("b"), restarted());
  EXPECT_TRUE(runs("c"));
  EXPECT_TRUE(supervisor.alive());
  // A temporary child is forgotten, another is kept stopped.
  EXPECT_EQ(answer(supervisor.count_children()).specs, now.restart == Restart::temporary ? 2U : 3U);
}

TEST_P(Restarts, are_reported_unless_the_end_was_planned) {
  const Case& now = GetParam();
  start({.strategy = now.strategy}, {worker("b", now.restart)});
  if (now.strategy == Strategy::simple_one_for_one) answer(supervisor.start_child());
  end("b", now.why);
  const bool expected = now.restart == Restart::permanent || !now.why.planned();
  ASSERT_EQ(reports.size(), expected ? 1U : 0U);
  if (!expected) return;
  EXPECT_EQ(reports[0].event, SupervisorReport::Event::child_terminated);
  EXPECT_EQ(reports[0].child, "b");
  EXPECT_TRUE(quiet.contains("child terminated"));
}

// --- intensity and period ------------------------------------------------------------------------

class Intensity : public Supervised {};

TEST_F(Intensity, more_restarts_than_allowed_end_the_supervisor_after_its_children) {
  start({.intensity = 2, .period = 5s}, {worker("a"), worker("b"), worker("c")});
  end("b", crashed());
  end("b", crashed());
  EXPECT_TRUE(supervisor.alive());
  diary.clear();
  end("b", crashed());
  EXPECT_EQ(diary, (Diary{"-b", "-c", "-a"}));
  EXPECT_EQ(supervisor.ended().get(), ExitReason::shutdown());
}

TEST_F(Intensity, is_one_restart_in_five_seconds_by_default) {
  start({}, {worker("a")});
  end("a", crashed());
  clock.advance(5s + 1ns);
  end("a", crashed());
  EXPECT_TRUE(supervisor.alive());
  clock.advance(5s);
  end("a", crashed());
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Intensity, is_one_budget_for_all_children) {
  start({.intensity = 1}, {worker("a"), worker("b")});
  end("a", crashed());
  end("b", crashed());
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Intensity, counts_the_restart_of_a_group_once) {
  start({.strategy = Strategy::one_for_all, .intensity = 1},
        {worker("a"), worker("b"), worker("c")});
  end("a", crashed());
  EXPECT_TRUE(supervisor.alive());
  EXPECT_TRUE(runs("c"));
}

TEST_F(Intensity, of_zero_allows_no_restart) {
  start({.intensity = 0}, {worker("a")});
  end("a", crashed());
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(Intensity, that_is_reached_is_reported_with_the_chain_of_reasons) {
  start({.name = "pool", .intensity = 1}, {worker("a"), worker("b")});
  end("a", crashed());
  end("b", ExitReason::shutdown("enough"));
  ASSERT_FALSE(reports.empty());
  const auto at =
      std::ranges::find(reports, SupervisorReport::Event::gave_up, &SupervisorReport::event);
  ASSERT_NE(at, reports.end());
  EXPECT_EQ(at->supervisor, "pool");
  ASSERT_EQ(at->chain.size(), 2U);
  EXPECT_NE(at->chain[0].find("a: error"), std::string::npos);
  EXPECT_EQ(at->chain[1], "b: {shutdown, enough}");
}

// --- reports -------------------------------------------------------------------------------------

class Reports : public Supervised {
 protected:
  static constexpr unsigned storm = 300;
  void crash_often() {
    start({.name = "pool", .intensity = storm, .period = 1h}, {worker("a")});
    for (unsigned i = 0; i < storm; ++i) end("a", crashed());
  }
};

TEST_F(Reports, tell_each_crash_once) {
  crash_often();
  ASSERT_EQ(reports.size(), storm);
  std::size_t longest = 0;
  for (const std::string& line : quiet.lines()) longest = std::max(longest, line.size());
  EXPECT_LT(longest, 300U) << "what crashed before is not told again";
  EXPECT_TRUE(reports.back().chain.empty());
  EXPECT_EQ(reports.back().restarts, storm - 1) << "before this one";
}

TEST_F(Reports, of_giving_up_name_the_last_reasons_only) {
  crash_often();
  end("a", crashed());
  ASSERT_EQ(reports.back().event, SupervisorReport::Event::gave_up);
  EXPECT_EQ(reports.back().chain.size(), SupervisorReport::chain_length);
  EXPECT_EQ(reports.back().restarts, storm + 1);
}

TEST_F(Reports, of_an_endless_reason_are_cut_in_the_log) {
  start({.intensity = 0}, {worker("a")});
  std::string endless(100'000, 'x');
  end("a", ExitReason::failure(Error{"test", ErrorCode::internal, std::move(endless)}));
  for (const std::string& line : quiet.lines()) EXPECT_LT(line.size(), 2000U);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].reason.error()->reason().size(), 100'000U) << "the program gets all of it";
  EXPECT_LT(reports[1].chain.at(0).size(), 300U);
}

TEST(ReportTexts, are_cut_between_characters) {
  EXPECT_EQ(cut_short("short", 5), "short");
  EXPECT_EQ(cut_short("longer", 4), "long …");
  EXPECT_EQ(cut_short("a\u00e9b", 2), "a …") << "not within the é";
}

TEST_F(Reports, whose_function_throws_do_not_end_the_supervisor) {
  const auto started = start_supervisor(
      executor,
      {.intensity = 5,
       .on_report = [](const SupervisorReport&) { throw std::runtime_error{"too much"}; }},
      {worker("a")});
  executor->run_all();
  supervisor = started.get();
  end("a", crashed());
  EXPECT_TRUE(runs("a"));
  EXPECT_TRUE(quiet.contains("too much"));
}

// --- restarts that fail --------------------------------------------------------------------------

class FailingRestarts : public Supervised {};

TEST_F(FailingRestarts, are_tried_again_and_each_try_counts) {
  start({.intensity = 3}, {worker("a")});
  failing_starts["a"] = 2;
  end("a", crashed());
  EXPECT_TRUE(runs("a"));
  failing_starts["a"] = 9;
  end("a", crashed());
  EXPECT_FALSE(supervisor.alive());
}

TEST_F(FailingRestarts, let_the_supervisor_answer_between_the_tries) {
  start({.intensity = 1000, .back_off = {.first = 1s}}, {worker("a")});
  failing_starts["a"] = 1;
  end("a", crashed());
  EXPECT_FALSE(runs("a"));
  const auto children = answer(supervisor.which_children());
  EXPECT_EQ(children.at(0).state, ChildInfo::State::restarting);
  EXPECT_FALSE(children.at(0).actor);
  clock.advance(1s);  // fails
  executor->run_all();
  EXPECT_FALSE(runs("a"));
  clock.advance(2s);  // twice as long
  executor->run_all();
  EXPECT_TRUE(runs("a"));
}

TEST_F(FailingRestarts, of_one_in_a_group_start_the_group_again) {
  start({.strategy = Strategy::one_for_all, .intensity = 5},
        {worker("a"), worker("b"), worker("c")});
  failing_starts["b"] = 1;
  end("c", crashed());
  EXPECT_EQ(diary, (Diary{"-c", "-b", "-a", "+a", "-a", "+a", "+b", "+c"}));
}

TEST_F(FailingRestarts, may_be_given_up_by_terminating_the_child) {
  start({.intensity = 1000, .back_off = {.first = 1s}}, {worker("a"), worker("b")});
  end("a", crashed());
  answer(supervisor.terminate_child(std::string{"a"}));
  clock.advance(1h);
  executor->run_all();
  EXPECT_FALSE(runs("a"));
  EXPECT_TRUE(runs("b"));
}

// --- back-off ------------------------------------------------------------------------------------

class BackingOff : public Supervised {};

TEST_F(BackingOff, waits_longer_for_each_restart_within_the_period) {
  start({.intensity = 10, .period = 1h, .back_off = {.first = 1s, .factor = 3, .most = 5s}},
        {worker("a")});
  for (const auto wait : {1s, 3s, 5s, 5s}) {
    end("a", crashed());
    clock.advance(wait - 1ns);
    executor->run_all();
    EXPECT_FALSE(runs("a"));
    clock.advance(1ns);
    executor->run_all();
    EXPECT_TRUE(runs("a"));
  }
}

TEST_F(BackingOff, starts_a_child_again_though_the_mailbox_is_full) {
  start({.intensity = 10, .back_off = {.first = 1s}}, {worker("a")});
  end("a", crashed());
  clock.advance(1s);
  for (std::uint32_t i = 0; i < Strand::default_capacity; ++i)
    static_cast<void>(supervisor.which_children());
  EXPECT_EQ(supervisor.which_children().wait().error().code(), ErrorCode::overloaded);
  executor->run_all();
  EXPECT_TRUE(runs("a"));
}

TEST_F(BackingOff, stops_the_group_at_once_and_starts_it_later) {
  start({.strategy = Strategy::rest_for_one, .intensity = 10, .back_off = {.first = 1s}},
        {worker("a"), worker("b"), worker("c")});
  end("b", crashed());
  EXPECT_EQ(diary, (Diary{"-b", "-c"}));
  clock.advance(1s);
  executor->run_all();
  EXPECT_EQ(diary, (Diary{"-b", "-c", "+b", "+c"}));
}

TEST_F(Supervised, group_restarts_forget_temporary_children) {
  start({.strategy = Strategy::one_for_all},
        {worker("a"), worker("t", Restart::temporary), worker("c")});
  end("a", crashed());
  EXPECT_EQ(diary, (Diary{"-a", "-c", "-t", "+a", "+c"}));
  EXPECT_EQ(answer(supervisor.count_children()).specs, 2U);
}

}  // namespace
}  // namespace stoker
