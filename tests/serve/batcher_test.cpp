// A serving, message by message: who shares a batch, who is answered when, and by what.
#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class Servings : public ScheduledServings {};

TEST_F(Servings, run_a_request_at_once_if_a_worker_is_free) {
  auto& s = start();
  const auto answer = s.ask({1, 2});
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2}}));
  EXPECT_FALSE(answer.ready());
  s.finish();
  EXPECT_EQ(answer_of(answer), (Numbers{2, 4}));
}

TEST_F(Servings, join_what_comes_while_all_workers_are_busy) {
  auto& s = start({.batch_size = 3});
  std::vector<Future<NamedValues>> answers;
  answers.reserve(5);
  for (int i = 0; i < 5; ++i) answers.push_back(s.ask({1.0 * i}));
  EXPECT_EQ(s.runner->running(), Batches{{0}});
  s.finish();
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2, 3}}));
  s.finish();
  s.finish();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(answer_of(answers[static_cast<std::size_t>(i)]), Numbers{2.0 * i});
}

TEST_F(Servings, keep_as_many_batches_in_flight_as_they_have_workers) {
  auto& s = start({.workers = 2});
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  const auto third = s.ask({3});
  EXPECT_EQ(s.runner->running(), (Batches{{1}, {2}}));
  s.finish(1);
  EXPECT_EQ(answer_of(second), Numbers{4});
  EXPECT_EQ(s.runner->running(), (Batches{{1}, {3}}));
  s.finish();
  s.finish();
  EXPECT_TRUE(first.ready() && third.ready());
}

TEST_F(Servings, wait_for_a_full_batch_if_they_shall) {
  auto& s = start({.batch_size = 2, .batch_timeout = 50ms, .wait = BatchWait::full});
  const auto first = s.ask({1});
  s.advance(49ms);
  EXPECT_EQ(s.runner->running(), Batches{});
  const auto second = s.ask({2});
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2}}));
  const auto third = s.ask({3});
  s.finish();
  s.advance(49ms);
  EXPECT_EQ(s.runner->running(), Batches{})
      << "the time counts from the first request of this batch";
  s.advance(1ms);
  EXPECT_EQ(s.runner->running(), Batches{{3}});
  s.finish();
  EXPECT_TRUE(first.ready() && second.ready() && third.ready());
}

TEST_F(Servings, let_a_batch_grow_after_its_time_out_while_all_workers_are_busy) {
  auto& s = start({.batch_size = 3, .batch_timeout = 50ms, .wait = BatchWait::full});
  const auto first = s.ask({1, 2, 3});
  const auto second = s.ask({4});
  s.advance(60ms);
  const auto third = s.ask({5});
  s.finish();
  EXPECT_EQ(s.runner->running(), (Batches{{4, 5}}));
}

TEST_F(Servings, split_a_request_that_is_larger_than_a_batch_and_join_its_answer) {
  auto& s = start({.batch_size = 2, .workers = 2});
  const auto answer = s.ask({1, 2, 3, 4, 5});
  const auto other = s.ask({6});
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2}, {3, 4}}));
  s.finish(1);
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2}, {5, 6}}));
  s.finish(1);
  EXPECT_EQ(answer_of(other), Numbers{12});
  EXPECT_FALSE(answer.ready());
  s.finish();
  EXPECT_EQ(answer_of(answer), (Numbers{2, 4, 6, 8, 10}));
}

TEST_F(Servings, end_a_split_request_with_the_first_batch_that_fails) {
  auto& s = start({.batch_size = 2});
  const auto answer = s.ask({1, 2, 3, 4, 5});
  s.fail();
  EXPECT_EQ(error_of(answer).reason(), "it broke");
  EXPECT_EQ(s.runner->running(), Batches{}) << "nobody waits for the rest";
  EXPECT_EQ(s.status().queued, 0U);
}

TEST_F(Servings, run_requests_without_rows_one_at_a_time_and_say_so) {
  auto& s = start({.batch_size = 8}, false);
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  const auto third = s.ask({3});
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{2}});
  const ServingStatus status = s.status();
  EXPECT_FALSE(status.joins);
  EXPECT_EQ(status.reason, "input 'x' has no free first dimension");
  EXPECT_EQ(status.batch_size, 1);
  EXPECT_THROW(s.serving.with_batch_size(4), Error);
}

TEST_F(Servings, refuse_at_once_what_is_beyond_the_queue) {
  auto& s = start({.max_requests = 2});
  const auto running = s.ask({1});
  const auto second = s.ask({2});
  const auto third = s.ask({3});
  const auto refused = s.send({4});
  EXPECT_EQ(error_of(refused).code(), ErrorCode::overloaded);
  EXPECT_FALSE(error_of(refused).detail("retry_after_ms").empty());
  s.finish();
  EXPECT_FALSE(s.send({5}).ready()) << "those that run wait no more";
  s.scheduler.run();
  EXPECT_EQ(s.status().totals.refused, 1U);
}

TEST_F(Servings, count_a_split_request_until_its_last_row_runs) {
  auto& s = start({.batch_size = 2, .max_requests = 1});
  const auto large = s.ask({1, 2, 3, 4});
  EXPECT_EQ(error_of(s.send({5})).code(), ErrorCode::overloaded);
  s.finish();
  EXPECT_EQ(s.status().queued, 0U);
}

TEST_F(Servings, drop_a_request_at_its_deadline_while_it_waits) {
  auto& s = start();
  const auto running = s.ask({1});
  const auto late = s.ask({2}, {.deadline = 20ms});
  const auto patient = s.ask({3}, {.deadline = 10s});
  s.advance(20ms);
  EXPECT_EQ(error_of(late).code(), ErrorCode::deadline_exceeded);
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{3}}) << "it costs no time of the model";
  EXPECT_EQ(s.status().totals.expired, 1U);
}

TEST_F(Servings, drop_a_request_at_its_deadline_in_an_open_batch) {
  auto& s = start({.batch_size = 4, .batch_timeout = 50ms, .wait = BatchWait::full});
  const auto late = s.ask({1}, {.deadline = 20ms});
  const auto other = s.ask({2});
  s.advance(20ms);
  EXPECT_EQ(error_of(late).code(), ErrorCode::deadline_exceeded);
  s.advance(30ms);
  EXPECT_EQ(s.runner->running(), Batches{{2}});
}

TEST_F(Servings, answer_at_the_deadline_while_the_batch_runs) {
  auto& s = start();
  const auto late = s.ask({1}, {.deadline = 20ms});
  s.advance(20ms);
  EXPECT_EQ(error_of(late).code(), ErrorCode::deadline_exceeded);
  EXPECT_TRUE(s.runner->runs[0].cancel.cancelled()) << "nobody waits for it";
  s.finish();
  EXPECT_EQ(s.status().totals.answered, 0U);
}

TEST_F(Servings, never_start_what_comes_after_its_deadline) {
  auto& s = start();
  const auto late = s.send({1}, {.deadline = 20ms});
  s.advance(20ms);
  EXPECT_EQ(error_of(late).code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(s.runner->started, 0);
}

TEST_F(Servings, give_their_deadline_to_requests_that_have_none) {
  auto& s = start({.deadline = 20ms});
  const auto late = s.ask({1});
  const auto patient = s.ask({2}, {.deadline = 1s});
  s.advance(20ms);
  EXPECT_TRUE(late.ready());
  EXPECT_FALSE(patient.ready());
}

TEST_F(Servings, have_no_timer_while_they_are_idle) {
  auto& s =
      start({.batch_size = 4, .batch_timeout = 50ms, .wait = BatchWait::full, .deadline = 1s});
  const auto never = Clock::time_point::max();
  EXPECT_EQ(s.scheduler.clock()->next_due(), never);
  const auto answer = s.ask({1});
  EXPECT_NE(s.scheduler.clock()->next_due(), never);
  s.advance(50ms);
  s.finish();
  ASSERT_TRUE(answer.ready());
  EXPECT_EQ(s.scheduler.clock()->next_due(), never);
}

TEST_F(Servings, cancel_a_request_that_waits) {
  auto& s = start();
  const auto running = s.ask({1});
  const auto gone = s.ask({2});
  const auto other = s.ask({3});
  gone.cancel();
  EXPECT_EQ(error_of(gone).code(), ErrorCode::cancelled) << "at once";
  s.scheduler.run();
  EXPECT_EQ(s.status().queued, 1U);
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{3}});
}

TEST_F(Servings, end_a_batch_only_when_nobody_waits_for_any_of_its_rows) {
  auto& s = start({.batch_size = 2, .batch_timeout = 1s, .wait = BatchWait::full});
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  first.cancel();
  s.scheduler.run();
  EXPECT_FALSE(s.runner->runs[0].cancel.cancelled());
  second.cancel();
  s.scheduler.run();
  EXPECT_TRUE(s.runner->runs[0].cancel.cancelled());
}

TEST_F(Servings, go_on_for_a_future_that_was_dropped) {
  auto& s = start();
  static_cast<void>(s.ask({1}));
  EXPECT_FALSE(s.runner->runs[0].cancel.cancelled());
  s.finish();
  EXPECT_EQ(s.status().totals.answered, 1U);
}

TEST_F(Servings, end_exactly_the_calls_of_a_batch_that_fails) {
  auto& s = start({.batch_size = 2});
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  s.fail();
  EXPECT_EQ(error_of(first).code(), ErrorCode::device_lost);
  s.finish();
  EXPECT_EQ(answer_of(second), Numbers{4});
}

TEST_F(Servings, end_exactly_the_calls_of_a_batch_whose_worker_crashes) {
  auto& s = start({.batch_size = 2});
  const auto poison = s.ask({-1});
  EXPECT_EQ(error_of(poison).code(), ErrorCode::handler_failed);
  EXPECT_NE(std::string{error_of(poison).what()}.find("poison"), std::string::npos);
  const auto next = s.ask({2});
  s.finish();
  EXPECT_EQ(answer_of(next), Numbers{4}) << "its supervisor has started another worker";
  EXPECT_EQ(s.status().totals.crashes, 1U);
}

TEST_F(Servings, answer_for_a_worker_that_was_killed_while_it_ran) {
  auto& s = start();
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  s.find("worker 1").exit(ExitReason::kill());
  s.scheduler.run();
  EXPECT_EQ(error_of(first).code(), ErrorCode::closed);
  EXPECT_EQ(error_of(first).detail("exit_reason"), "killed");
  EXPECT_TRUE(s.runner->runs[0].cancel.cancelled()) << "nobody hears of its end";
  s.runner->runs.pop_front();
  s.finish();
  EXPECT_EQ(answer_of(second), Numbers{4}) << "the queue has stayed";
}

TEST_F(Servings, answer_a_request_that_ran_alone_when_it_is_computed) {
  auto& s = start();
  const auto alone = s.ask({1, 2});
  s.runner->finish();
  EXPECT_EQ(answer_of(alone), (Numbers{2, 4})) << "it does not wait for a turn of the batcher";
  EXPECT_EQ(s.status().totals.answered, 1U);
}

TEST_F(Servings, keep_an_answer_whose_worker_is_killed_before_the_batcher_has_heard_of_it) {
  auto& s = start({.retry = BatchRetry::once});
  const auto first = s.ask({1});
  const ActorAddress worker = s.find("worker 1");
  s.runner->finish();
  s.scheduler.inject_exit(worker, ExitReason::kill());
  s.scheduler.run();
  EXPECT_EQ(answer_of(first), Numbers{2});
  const ServingStatus status = s.status();
  EXPECT_EQ(status.totals.answered, 1U);
  EXPECT_EQ(status.totals.failed, 0U);
  EXPECT_EQ(s.runner->started, 1) << "it has run, and does not run again";
}

TEST_F(Servings, answer_by_the_batch_that_runs_again_and_not_by_the_one_whose_worker_is_gone) {
  auto& s = start({.retry = BatchRetry::once});
  const auto first = s.ask({1});
  s.find("worker 1").exit(ExitReason::kill());
  s.scheduler.run();
  ASSERT_EQ(s.runner->runs.size(), 2U);
  s.finish(0);
  EXPECT_FALSE(first.ready());
  s.finish(0);
  EXPECT_EQ(answer_of(first), Numbers{2});
  EXPECT_EQ(s.status().totals.answered, 1U);
}

TEST_F(Servings, run_a_batch_once_more_if_they_shall) {
  auto& s = start({.retry = BatchRetry::once});
  const auto first = s.ask({1});
  s.fail();
  EXPECT_FALSE(first.ready());
  s.finish();
  EXPECT_EQ(answer_of(first), Numbers{2});
  const auto second = s.ask({2});
  s.fail();
  s.fail();
  EXPECT_EQ(error_of(second).code(), ErrorCode::device_lost) << "once, not for ever";
  EXPECT_EQ(s.status().totals.retries, 2U);
}

TEST_F(Servings, let_a_poisonous_request_fail_alone_if_they_shall) {
  auto& s = start({.batch_size = 3,
                   .batch_timeout = 1s,
                   .wait = BatchWait::full,
                   .retry = BatchRetry::one_by_one});
  const auto first = s.ask({1});
  const auto poison = s.ask({-2});
  const auto third = s.ask({3});
  s.finish();
  s.finish();
  EXPECT_EQ(answer_of(first), Numbers{2});
  EXPECT_EQ(answer_of(third), Numbers{6});
  EXPECT_EQ(error_of(poison).code(), ErrorCode::handler_failed);
}

TEST_F(Servings, end_after_too_many_crashes_and_tell_all_who_wait) {
  auto& s = start({.batch_size = 1, .intensity = 1, .period = 10s});
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  const auto waiting = s.ask({3});
  for (int i = 0; i < 2; ++i) {
    s.find("worker 1").exit(ExitReason::kill());
    s.scheduler.run();
  }
  EXPECT_FALSE(s.batcher.alive());
  EXPECT_EQ(error_of(first).detail("exit_reason"), "killed");
  EXPECT_EQ(error_of(second).detail("exit_reason"), "killed");
  EXPECT_EQ(error_of(waiting).detail("exit_reason"), "shutdown");
  EXPECT_EQ(error_of(s.send({3})).code(), ErrorCode::closed);
  EXPECT_TRUE(s.program.alive()) << "the program goes on without it";
}

TEST_F(Servings, change_while_they_run) {
  auto& s = start({.batch_size = 4, .batch_timeout = 50ms, .wait = BatchWait::full});
  const auto first = s.ask({1});
  const auto second = s.ask({2});
  s.serving.with_batch_size(2);
  s.scheduler.run();
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2}}));
  s.finish();
  const auto third = s.ask({3});
  s.serving.with_timeout(0ns);
  s.scheduler.run();
  EXPECT_EQ(s.runner->running(), Batches{{3}});
  EXPECT_EQ(s.status().batch_size, 2);
  EXPECT_THROW(s.serving.with_batch_size(0), Error);
  EXPECT_THROW(s.serving.with_timeout(-1ns), Error);
}

TEST_F(Servings, answer_all_they_have_accepted_when_they_are_drained) {
  auto& s = start();
  const auto running = s.ask({1});
  const auto waiting = s.send({2});
  const auto drained = s.serving.drain();
  s.scheduler.run();
  EXPECT_EQ(error_of(s.send({3})).code(), ErrorCode::closed);
  EXPECT_FALSE(drained.ready());
  s.finish();
  EXPECT_FALSE(drained.ready());
  s.finish();
  EXPECT_TRUE(drained.ready() && running.ready() && waiting.ready());
  EXPECT_TRUE(s.status().draining);
}

TEST_F(Servings, tell_those_who_wait_at_once_when_they_are_stopped_and_wait_for_those_that_run) {
  auto& s = start({.shutdown = 30s});
  const auto running = s.ask({1});
  const auto waiting = s.ask({2});
  const auto stopped = s.serving.stop();
  s.scheduler.run();
  EXPECT_EQ(error_of(waiting).code(), ErrorCode::closed);
  EXPECT_FALSE(running.ready());
  EXPECT_FALSE(stopped.ready());
  s.finish();
  EXPECT_EQ(answer_of(running), Numbers{2});
  EXPECT_TRUE(stopped.ready());
  EXPECT_EQ(error_of(s.send({3})).code(), ErrorCode::closed);
}

TEST_F(Servings, wait_no_longer_than_the_shutdown_time_for_those_that_run) {
  auto& s = start({.shutdown = 30s});
  const auto running = s.ask({1});
  const auto stopped = s.serving.stop();
  s.scheduler.run();
  EXPECT_FALSE(s.runner->runs[0].cancel.cancelled());
  s.advance(30s);
  EXPECT_TRUE(s.runner->runs[0].cancel.cancelled());
  EXPECT_EQ(error_of(running).code(), ErrorCode::closed);
  EXPECT_TRUE(stopped.ready());
}

TEST_F(Servings, say_how_they_are) {
  auto& s = start({.batch_size = 8, .sizes = {4, 2}, .max_bytes = 1000});
  const auto running = s.ask({1, 2, 3});
  const auto waiting = s.ask({4});
  const ServingStatus status = s.status();
  EXPECT_TRUE(status.joins);
  EXPECT_EQ(status.batch_size, 8);
  EXPECT_EQ(status.batch_timeout, 50ms);
  EXPECT_EQ(status.partitions, std::vector<std::string>{"null"});
  EXPECT_EQ(status.sizes, (std::vector<std::int64_t>{2, 4}));
  EXPECT_TRUE(status.padding);
  EXPECT_EQ(status.queued, 1U);
  EXPECT_EQ(status.queued_bytes, 4U);
  EXPECT_EQ(status.running, 1U);
  EXPECT_EQ(status.workers, 1U);
  EXPECT_EQ(status.totals.accepted, 2U);
  EXPECT_EQ(status.totals.rows, 3U);
  EXPECT_EQ(status.totals.padding, 1U);
  EXPECT_EQ(status.batches, (std::map<std::int64_t, std::uint64_t>{{4, 1}}));
}

TEST_F(Servings, refuse_bad_input_at_the_call) {
  auto& s = start();
  const auto refuses = [&](const NamedValues& inputs) {
    try {
      static_cast<void>(s.serving.run(inputs));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(refuses({{"z", value_of({1})}}), ErrorCode::not_found);
  EXPECT_EQ(refuses({}), ErrorCode::invalid_argument);
  EXPECT_EQ(refuses({{"x", onnx::Known::integers(std::vector<std::int64_t>{1})}}),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(refuses({{"x", onnx::Known::reals(Numbers{1}, Shape{1, 1})}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(refuses({{"x", value_of({})}}), ErrorCode::shape_mismatch) << "no rows";
  EXPECT_EQ(s.status().totals.accepted, 0U);
}

TEST(ServingOptionsOutOfRange, are_refused) {
  const auto refuses = [](const ServingOptions& options) {
    try {
      static_cast<void>(checked(options));
    } catch (const Error& error) {
      return std::string{error.detail("option")};
    }
    return std::string{"none"};
  };
  EXPECT_EQ(refuses({}), "none");
  EXPECT_EQ(refuses({.batch_size = 0}), "batch_size");
  EXPECT_EQ(refuses({.batch_timeout = -1ns}), "batch_timeout");
  EXPECT_EQ(refuses({.sizes = {4, 0}}), "sizes");
  EXPECT_EQ(refuses({.workers = 0}), "workers");
  EXPECT_EQ(refuses({.max_requests = 0}), "max_requests");
  EXPECT_EQ(refuses({.max_bytes = 0}), "max_bytes");
  EXPECT_EQ(refuses({.deadline = 0ns}), "deadline");
  EXPECT_EQ(refuses({.shutdown = -1s}), "shutdown");
  EXPECT_EQ(refuses({.priorities = {{.max_requests = 0}}}), "priorities");
  EXPECT_EQ(refuses({.priorities = {{.timeout = 0ns}}}), "priorities");
  EXPECT_EQ(refuses({.priorities = {{}}, .default_priority = 2}), "default_priority");
  EXPECT_EQ(refuses({.default_priority = 0}), "default_priority");
  EXPECT_EQ(refuses({.batch_keys = {"a", "b", "a"}}), "batch_keys");
  EXPECT_EQ(refuses({.batch_keys = {""}}), "batch_keys");
}

}  // namespace
}  // namespace stoker::serve
