// How much a serving takes at once, when it says to come again, and how it ends, on the deterministic scheduler.
#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class BusyServings : public ScheduledServings {};

TEST_F(BusyServings, do_not_wait_for_full_batches_when_they_are_drained) {
  auto& s = start({.batch_timeout = 1h, .wait = BatchWait::full});
  const auto waiting = s.ask({1});
  EXPECT_TRUE(s.runner->running().empty());
  const auto drained = s.serving.drain();
  s.scheduler.run();
  EXPECT_EQ(s.runner->running(), Batches{{1}});
  s.finish();
  EXPECT_TRUE(drained.ready() && waiting.ready());
}

TEST_F(BusyServings,
       say_when_to_come_again_by_the_requests_that_leave_the_queue_not_by_their_batches) {
  const auto retry_after = [this](const Numbers& rows) {
    auto& s = start({.batch_size = 1, .max_requests = 1});
    for (int n = 0; n < 3; ++n) {
      static_cast<void>(s.ask(rows));
      for (std::size_t batch = 0; batch < rows.size(); ++batch) {
        s.advance(10ms);
        s.finish();
      }
    }
    const auto running = s.ask({1});
    const auto waiting = s.ask({2});
    return std::stoi(std::string{error_of(s.send({3})).detail("retry_after_ms")});
  };
  EXPECT_GT(retry_after({1, 2, 3, 4}), 2 * retry_after({1}));
}

TEST_F(BusyServings, refuse_a_request_that_needs_too_many_batches) {
  auto& s = start({.batch_size = 2, .max_requests = 1, .max_request_batches = 2});
  const auto refused = s.ask({1, 2, 3, 4, 5});
  EXPECT_EQ(error_of(refused).code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(error_of(refused).reason(), "the request has more rows than 2 batches of 2 hold");
  const auto taken = s.ask({1, 2, 3, 4});
  s.finish();
  s.finish();
  EXPECT_EQ(answer_of(taken), (Numbers{2, 4, 6, 8}));
  EXPECT_EQ(s.status().totals.failed, 1U);
}

}  // namespace
}  // namespace stoker::serve
