// Exactly one answer for each request, in any order of events: thousands of seeds, each with its own order of messages,
// and with crashes, failures, cancellations, deadlines, time-outs of priorities, keys, changes of options, batches that
// end at once and an end in between.
#include <cstdlib>
#include <random>

#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class Chaos {
 public:
  Chaos(const Device& device, unsigned seed)
      : random_{seed},
        has_keys_{pick(2) != 0},
        serving_{device, TestScheduler{seed}, options(), pick(8) != 0,
                 pick(2) != 0 ? Run::here : Run::posted} {}

  void live() {
    for (int event = 0; event < 60; ++event) happen();
    settle();
    check();
  }

 private:
  struct Asked {
    Numbers rows;
    Future<NamedValues> answer;
    bool cancelled = false;
  };

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  ServingOptions options() {
    return {
        .batch_size = 1 + pick(5),
        .batch_timeout = std::chrono::milliseconds{pick(30)},
        .wait = pick(2) != 0 ? BatchWait::full : BatchWait::none,
        .sizes = pick(2) != 0 ? std::vector<std::int64_t>{2, 4} : std::vector<std::int64_t>{},
        .padding = pick(2) != 0,
        .workers = 1 + pick(3),
        .priorities = {{},
                       {.timeout = 15ms, .action = LateAction::delay},
                       {.max_requests = 3, .timeout = 25ms}},
        .default_priority = 1 + pick(3),
        .batch_keys = has_keys_ ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{},
        .max_requests = 4 + pick(8),
        .retry = static_cast<BatchRetry>(pick(3)),
        .intensity = pick(2) != 0 ? 2U : 1000U};
  }

  void happen() {
    HeldRunner& runner = *serving_.runner;
    runner.at_once = pick(4) == 0;
    const auto any_run = [&] { return pick(static_cast<unsigned>(runner.runs.size())); };
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3: ask(); break;
      case 4:
      case 5:
        if (!runner.runs.empty()) runner.finish(any_run());
        break;
      case 6:
        if (!runner.runs.empty()) runner.fail(any_run());
        break;
      case 7:
        if (!asked_.empty()) {
          Asked& one = asked_[pick(static_cast<unsigned>(asked_.size()))];
          one.cancelled = true;
          one.answer.cancel();
        }
        break;
      case 8: serving_.scheduler.advance(std::chrono::milliseconds{pick(20)}); break;
      case 9:
        if (serving_.serving.model().inputs()[0].type.dims->front().extent) break;
        serving_.serving.with_batch_size(1 + pick(5));
        serving_.serving.with_timeout(std::chrono::milliseconds{pick(30)});
        break;
      case 10:
        if (pick(4) == 0) kill_worker();
        break;
      default:
        if (pick(40) == 0) {
          static_cast<void>(pick(2) != 0 ? serving_.serving.drain().valid()
                                         : serving_.serving.stop().valid());
        }
    }
    for (unsigned steps = pick(6); steps > 0; --steps) static_cast<void>(serving_.scheduler.step());
  }

  void ask() {
    Asked one;
    const bool has_rows = !serving_.serving.model().inputs()[0].type.dims->front().extent;
    for (unsigned rows = has_rows ? 1 + pick(7) : 1; rows > 0; --rows)
      one.rows.push_back(next_number_++);
    if (pick(40) == 0) one.rows[0] = -1;  // its batch crashes a worker
    ServingRequestOptions request;
    if (pick(3) == 0) request.deadline = std::chrono::milliseconds{pick(40)};
    request.priority = pick(4);
    if (has_keys_ && pick(2) != 0) request.key = "b";
    one.answer = serving_.send(one.rows, request);
    asked_.push_back(std::move(one));
  }

  void kill_worker() {
    if (const ActorAddress worker = serving_.find("worker 1")) worker.exit(ExitReason::kill());
  }

  /// Until nothing is left to happen. Bounded, so that a lost wake-up is a failure and not an endless test.
  void settle() {
    for (int round = 0; round < 400; ++round) {
      serving_.scheduler.run();
      if (!serving_.runner->runs.empty()) {
        serving_.runner->finish(0);
        continue;
      }
      if (serving_.scheduler.clock()->next_due() == Clock::time_point::max()) return;
      serving_.scheduler.advance(1s);
    }
    ADD_FAILURE() << "it does not come to rest";
  }

  void check() {
    std::size_t with_result = 0;
    for (const Asked& one : asked_) {
      ASSERT_TRUE(one.answer.ready()) << "a request was forgotten";
      const Result<NamedValues>& answer = *one.answer.poll();
      if (!answer) continue;
      ++with_result;
      Numbers expected = one.rows;
      for (double& number : expected) number *= 2;
      EXPECT_EQ(numbers_of(answer->at("y")), expected) << "these are the rows of somebody else";
    }
    if (!serving_.batcher.alive()) return;
    const ServingStatus status = serving_.status();
    EXPECT_EQ(status.queued, 0U);
    EXPECT_EQ(status.queued_bytes, 0U);
    EXPECT_EQ(status.running, 0U);
    const ServingTotals& totals = status.totals;
    EXPECT_EQ(totals.answered, with_result);
    EXPECT_EQ(totals.accepted, totals.answered + totals.failed + totals.cancelled + totals.expired);
    for (const ServingLevelStatus& level : status.levels) EXPECT_EQ(level.queued, 0U);
  }

  std::mt19937 random_;
  const bool has_keys_;
  ScheduledServing serving_;
  std::vector<Asked> asked_;
  double next_number_ = 1;
};

TEST(OneAnswer, for_each_request_whatever_happens) {
  const System system;
  const Device device = system.device("null");
  const unsigned seeds = std::getenv("STOKER_TEST_HEAVY") != nullptr ? 50'000 : 4000;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chaos{device, seed}.live();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace stoker::serve
