// A serving whose requests have priorities and keys, message by message. queue_places_test.cpp has the order in the
// queue.
#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class RankedServings : public ScheduledServings {};

TEST_F(RankedServings, serve_higher_priorities_first) {
  auto& s = start({.batch_size = 2, .priorities = {{}, {}, {}}, .default_priority = 2});
  const auto running = s.ask({1});
  const auto low = s.ask({2}, {.priority = 3});
  const auto other = s.ask({3});
  const auto high = s.ask({4}, {.priority = 1});
  s.finish();
  EXPECT_EQ(s.runner->running(), (Batches{{4, 3}}));
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{2}});
  s.finish();
  EXPECT_EQ(answer_of(low), Numbers{4});
}

TEST_F(RankedServings, answer_those_that_have_waited_too_long_for_their_priority) {
  auto& s = start({.priorities = {{}, {.timeout = 20ms}}});
  const auto running = s.ask({1}, {.priority = 2});
  const auto late = s.ask({2}, {.priority = 2});
  const auto patient = s.ask({3}, {.priority = 1});
  s.advance(20ms);
  EXPECT_EQ(error_of(late).code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(error_of(late).detail("priority"), "2");
  EXPECT_FALSE(running.ready()) << "it waits no more: it runs";
  const ServingStatus status = s.status();
  EXPECT_EQ(status.queued, 1U);
  EXPECT_EQ(status.totals.expired, 1U);
  ASSERT_EQ(status.levels.size(), 2U);
  EXPECT_EQ(status.levels[0].queued, 1U);
  EXPECT_EQ(status.levels[0].late, 0U);
  EXPECT_EQ(status.levels[1].late, 1U);
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{3}});
  s.finish();
  EXPECT_EQ(s.scheduler.clock()->next_due(), Clock::time_point::max());
}

TEST_F(RankedServings,
       delay_those_that_have_waited_too_long_and_serve_them_when_nothing_else_waits) {
  auto& s =
      start({.batch_size = 1, .priorities = {{.timeout = 20ms, .action = LateAction::delay}, {}}});
  const auto running = s.ask({1});
  const auto delayed = s.ask({2}, {.deadline = 1s, .priority = 1});
  const auto low = s.ask({3}, {.priority = 2});
  s.advance(20ms);
  EXPECT_FALSE(delayed.ready());
  EXPECT_EQ(s.status().levels[0].late, 1U);
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{3}});
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{2}});
  s.advance(980ms);
  EXPECT_EQ(error_of(delayed).code(), ErrorCode::deadline_exceeded) << "its own deadline holds";
}

TEST_F(RankedServings, limit_the_requests_of_a_priority) {
  auto& s = start({.priorities = {{}, {.max_requests = 1}}});
  const auto running = s.ask({1});
  const auto waiting = s.ask({2}, {.priority = 2});
  EXPECT_EQ(error_of(s.send({3}, {.priority = 2})).detail("limit"), "priority");
  EXPECT_FALSE(s.send({4}, {.priority = 1}).ready());
  s.scheduler.run();
  EXPECT_EQ(s.status().levels[1].refused, 1U);
  EXPECT_EQ(s.status().totals.refused, 1U);
}

TEST_F(RankedServings, serve_keys_in_turn_and_never_together) {
  auto& s = start({.batch_size = 2, .batch_keys = {"flooded", "other"}});
  std::vector<Future<NamedValues>> flood;
  flood.reserve(6);
  for (int i = 0; i < 6; ++i) flood.push_back(s.ask({1.0 * i}, {.key = "flooded"}));
  const auto other = s.ask({9}, {.key = "other"});
  s.finish();
  EXPECT_EQ(s.runner->running(), Batches{{9}});
  s.finish();
  EXPECT_EQ(answer_of(other), Numbers{18});
  EXPECT_EQ(s.runner->running(), (Batches{{1, 2}}));
  const ServingStatus status = s.status();
  EXPECT_EQ(status.keys.at("flooded").queued, 3U);
  EXPECT_EQ(status.keys.at("flooded").rows, 3U);
  EXPECT_EQ(status.keys.at("other").queued, 0U);
  EXPECT_EQ(status.keys.at("other").rows, 1U);
}

TEST_F(RankedServings, keep_a_place_for_each_key) {
  auto& s = start({.batch_keys = {"flooded", "other"}, .max_requests = 2});
  const auto running = s.ask({1});
  const auto second = s.ask({2});
  const auto third = s.ask({3});
  EXPECT_EQ(error_of(s.send({4})).code(), ErrorCode::overloaded) << "the first key is meant";
  EXPECT_FALSE(s.send({5}, {.key = "other"}).ready());
  s.scheduler.run();
  EXPECT_EQ(s.status().queued, 3U);
}

TEST_F(RankedServings, refuse_keys_and_priorities_that_were_not_declared_at_the_call) {
  auto& s = start({.priorities = {{}, {}}, .batch_keys = {"photos", "scans"}});
  const auto refusal = [&](const ServingRequestOptions& options) {
    try {
      static_cast<void>(s.send({1}, options));
    } catch (const Error& error) {
      return error;
    }
    return Error{};
  };
  EXPECT_EQ(refusal({.key = "photo"}).code(), ErrorCode::not_found);
  EXPECT_NE(std::string{refusal({.key = "photo"}).what()}.find("did you mean 'photos'"),
            std::string::npos);
  EXPECT_EQ(refusal({.priority = 3}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal({.priority = 3}).detail("lowest"), "2");
  EXPECT_EQ(s.status().totals.accepted, 0U);
}

}  // namespace
}  // namespace stoker::serve
