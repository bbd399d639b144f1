// A handler that hogs its thread is named while it does.
#include "stoker/runtime/execution/stall_detector.hpp"

#include <memory>
#include <stdexcept>
#include <thread>

#include "probe.hpp"
#include "stoker/actors/process_actor.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class Watching : public Probes {
 protected:
  Watching() {
    executor->stall_detector().start(clock, 1s,
                                     [this](const StalledThread& one) { seen.push_back(one); });
  }
  void TearDown() override {
    executor->stall_detector().stop();
    Probes::TearDown();
  }
  std::vector<StalledThread> seen;
};

TEST_F(Watching, names_a_handler_that_runs_too_long_once_while_it_runs) {
  in(a, [this](Probe&) {
    clock.advance(10s);
    EXPECT_EQ(seen.size(), 1U);
  });
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].who, "a");
  EXPECT_GE(seen[0].at_least, 1s);
}

TEST_F(Watching, says_nothing_of_handlers_that_return_in_time) {
  for (int i = 0; i < 10; ++i) in(a, [this](Probe&) { clock.advance(900ms); });
  EXPECT_TRUE(seen.empty());
}

TEST_F(Watching, names_a_handler_that_its_sender_runs) {
  EXPECT_TRUE(a.cast(Doing{[this](Probe&) { clock.advance(2s); }}, Run::here));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].who, "a");
}

TEST_F(Watching, forgets_threads_that_have_ended) {
  in(a, [](Probe&) {});
  for (int i = 0; i < 10; ++i)
    std::jthread{[this] { EXPECT_TRUE(a.cast(Doing{[](Probe&) {}}, Run::here)); }}.join();
  EXPECT_EQ(executor->stall_detector().threads(), 1U);
}

TEST_F(Watching, names_each_that_hogs_anew) {
  in(a, [this](Probe&) { clock.advance(2s); });
  in(b, [this](Probe&) { clock.advance(2s); });
  in(a, [this](Probe&) { clock.advance(2s); });
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1].who, "b");
}

TEST_F(Watching, names_a_process_but_not_while_it_waits) {
  const auto process = spawn_process<int>(executor, {.name = "worker"}, [this](auto& self) {
    self.sleep_for(1h);
    clock.advance(2s);
  });
  executor->run_all();
  clock.advance(1h);
  EXPECT_TRUE(seen.empty());
  executor->run_all();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].who, "worker");
}

TEST_F(Watching, ends_when_it_is_stopped) {
  executor->stall_detector().stop();
  in(a, [this](Probe&) { clock.advance(10s); });
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(clock.next_due(), Clock::time_point::max());
}

TEST_F(Watching, takes_long_names_as_far_as_they_fit) {
  Journal journal;
  const auto long_name = probe(journal, std::string(200, 'x'));
  in(long_name, [this](Probe&) { clock.advance(2s); });
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].who, std::string(48, 'x'));
}

TEST_F(Watching, outlives_a_report_that_throws) {
  const LogCapture log;
  int reports = 0;
  executor->stall_detector().start(clock, 1s, [&](const StalledThread&) {
    ++reports;
    throw std::runtime_error{"the disk is full"};
  });
  for (int i = 0; i < 2; ++i) in(a, [this](Probe&) { clock.advance(10s); });
  EXPECT_EQ(reports, 2);
  EXPECT_TRUE(log.contains("the disk is full"));
}

TEST_F(Watching, may_be_stopped_by_its_report) {
  auto alive = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = alive;
  executor->stall_detector().start(clock, 1s,
                                   [&, alive = std::move(alive)](const StalledThread& one) {
                                     executor->stall_detector().stop();
                                     EXPECT_EQ(watched.use_count(), 1) << "what runs was destroyed";
                                     seen.push_back(one);
                                   });
  for (int i = 0; i < 2; ++i) in(a, [this](Probe&) { clock.advance(10s); });
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(clock.next_due(), Clock::time_point::max());
  executor->stall_detector().stop();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace stoker
