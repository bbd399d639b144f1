// What a serving says about the times of its requests.
#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class RequestTimesOf : public ScheduledServings {
 protected:
  [[nodiscard]] Clock::time_point now() const {
    return serving->scheduler.executor()->clock().now();
  }
  /// The steps of the oldest batch that runs.
  [[nodiscard]] BatchMoments& moments() const {
    return serving->runner->runs.front().batch.lock()->moments;
  }
};

TEST_F(RequestTimesOf, a_batch_tell_its_steps_apart) {
  ScheduledServing& s = start({.batch_size = 2, .batch_timeout = 1h, .wait = BatchWait::full});
  const auto first = s.ask({1});
  s.advance(5ms);
  const auto second = s.ask({2});
  s.advance(2ms);
  moments().joined = now();
  s.advance(10ms);
  moments().computed = now();
  s.advance(1ms);
  s.finish();
  for (const auto& [answer, queue] : {std::pair{&first, 5ms}, std::pair{&second, 0ms}}) {
    const RequestTimes& times = *times_of(*answer);
    EXPECT_EQ(times.queue(), queue);
    EXPECT_EQ(times.input, 2ms);
    EXPECT_EQ(times.infer, 10ms);
    EXPECT_EQ(times.output, 1ms);
    EXPECT_EQ(times.whole(), queue + 13ms);
    EXPECT_EQ(times.batch_rows, 2);
  }
  const ServingStatus status = s.status();
  EXPECT_EQ(status.times.request.count(), 2U);
  EXPECT_EQ(status.times.request.total(), 31ms);
  EXPECT_EQ(status.times.queue.total(), 5ms);
  EXPECT_EQ(status.times.compute_input.total(), 4ms);
  EXPECT_EQ(status.times.compute_infer.total(), 20ms);
  EXPECT_EQ(status.times.compute_output.total(), 2ms);
  const ServingBatchTimes& batch = status.batch_times.at(2);
  EXPECT_EQ(batch.count, 1U);
  EXPECT_EQ(batch.compute_input, 2ms);
  EXPECT_EQ(batch.compute_infer, 10ms);
  EXPECT_EQ(batch.compute_output, 1ms);
}

TEST_F(RequestTimesOf, a_model_that_tells_no_steps_are_the_models) {
  ScheduledServing& s = start();
  const auto answer = s.ask({1});
  s.advance(3ms);
  s.finish();
  EXPECT_EQ(times_of(answer)->infer, 3ms);
  EXPECT_EQ(times_of(answer)->input, 0ms);
  EXPECT_EQ(times_of(answer)->output, 0ms);
}

TEST_F(RequestTimesOf, a_request_that_was_split_are_those_of_its_parts_together) {
  ScheduledServing& s = start({.batch_size = 2});
  const auto answer = s.ask({1, 2, 3});
  s.advance(4ms);
  s.finish();
  s.advance(6ms);
  s.finish();
  EXPECT_EQ(answer_of(answer), (Numbers{2, 4, 6}));
  EXPECT_EQ(times_of(answer)->queue(), 0ms);
  EXPECT_EQ(times_of(answer)->infer, 10ms);
  EXPECT_EQ(times_of(answer)->batches, 2U);
  EXPECT_EQ(s.status().times.request.count(), 1U);
  EXPECT_EQ(s.status().totals.answered_rows, 3U);
}

TEST_F(RequestTimesOf, a_batch_that_ran_again_begin_with_the_run_that_went_well) {
  ScheduledServing& s = start({.retry = BatchRetry::once});
  const auto answer = s.ask({1});
  s.advance(7ms);
  s.fail();
  s.advance(2ms);
  s.finish();
  EXPECT_EQ(times_of(answer)->queue(), 7ms);
  EXPECT_EQ(times_of(answer)->infer, 2ms);
}

TEST_F(RequestTimesOf, requests_without_a_result_are_counted_apart_by_reason) {
  ScheduledServing& s = start({.priorities = {{.timeout = 2ms}}});
  const auto failing = s.ask({1});
  s.advance(1ms);
  const auto late = s.ask({2});
  s.advance(2ms);
  s.fail();
  EXPECT_EQ(error_of(failing).code(), ErrorCode::device_lost);
  EXPECT_EQ(error_of(late).code(), ErrorCode::deadline_exceeded);
  const auto cancelled = s.ask({3});
  s.advance(4ms);
  cancelled.cancel();
  s.scheduler.run();
  s.finish();
  const ServingStatus status = s.status();
  EXPECT_EQ(status.times.request.count(), 0U);
  EXPECT_EQ(status.totals.late, 1U);
  EXPECT_EQ(status.totals.unanswered_time, 3ms + 2ms + 4ms);
  EXPECT_EQ(status.failures, (std::map<ErrorCode, std::uint64_t>{{ErrorCode::device_lost, 1}}));
  EXPECT_EQ(times_of(Future<NamedValues>{make_ready_future<NamedValues>(NamedValues{})}), nullptr);
}

TEST(TimesInAHistogram, lie_at_or_below_their_bound) {
  TimeHistogram times;
  for (const auto time : {-1ns, 0ns, 8'000ns, 8'001ns, 16'000ns, 33'554'432'000ns}) times.add(time);
  times.add(1h);
  EXPECT_EQ(TimeHistogram::bound(0), 8us);
  EXPECT_EQ(TimeHistogram::bound(TimeHistogram::bounds - 1), 33'554'432us);
  EXPECT_EQ(times.counts()[0], 3U);
  EXPECT_EQ(times.counts()[1], 2U);
  EXPECT_EQ(times.counts()[TimeHistogram::bounds - 1], 1U);
  EXPECT_EQ(times.counts()[TimeHistogram::bounds], 1U);
  EXPECT_EQ(times.count(), 7U);
  EXPECT_EQ(times.total(), 1h + 33'554'432us + 32'001ns);
}

TEST(TimesInAHistogram, have_quantiles_within_a_factor_of_two) {
  TimeHistogram times;
  EXPECT_EQ(times.quantile(0.5), 0ns);
  for (int i = 0; i < 99; ++i) times.add(100us);
  times.add(50ms);
  EXPECT_EQ(times.quantile(0.5), 128us);
  EXPECT_EQ(times.quantile(0.99), 128us);
  EXPECT_EQ(times.quantile(1), 65'536us);
}

}  // namespace
}  // namespace stoker::serve
