// A request that runs alone: which thread starts it, which one answers it, and who may still read its inputs.
#include <future>
#include <thread>

#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

class LoneRequests : public ScheduledServings {};

/// Holds the thread that answers a call.
class HoldsItsWaker final : public Waiter {
 public:
  void wake() noexcept override {
    woken.set_value();
    may_go.get_future().wait();
  }
  std::promise<void> woken, may_go;
};

TEST_F(LoneRequests, count_as_answered_when_the_answer_is_there) {
  auto& s = start();
  const auto alone = s.ask({1});
  HoldsItsWaker holds;
  alone.on_ready(holds);
  const std::jthread computes{[&] { s.runner->finish(); }};
  holds.woken.get_future().wait();
  EXPECT_TRUE(alone.ready());
  const auto status = s.serving.status();
  holds.may_go.set_value();
  s.scheduler.run();
  EXPECT_EQ(status.get().totals.answered, 1U);
}

TEST_F(LoneRequests, start_on_their_callers_thread_and_those_of_others_do_not) {
  auto& s = start({.workers = 2}, true, stoker::Run::here);
  std::optional<Future<NamedValues>> other;
  s.runner->when_started = [&] {
    if (!other) other = s.send({2});
  };
  const auto own = s.send({1});
  EXPECT_EQ(s.runner->running(), Batches{{1}});
  s.scheduler.run();
  EXPECT_EQ(s.runner->running(), (Batches{{1}, {2}}));
}

TEST_F(LoneRequests, keep_inputs_that_a_batch_may_still_read_whose_worker_is_gone) {
  auto& s = start({.retry = BatchRetry::once});
  const auto first = s.ask({1});
  s.find("worker 1").exit(ExitReason::kill());
  s.scheduler.run();
  ASSERT_EQ(s.runner->runs.size(), 2U);
  s.finish(1);
  EXPECT_EQ(answer_of(first), Numbers{2});
  const auto abandoned = s.runner->runs[0].batch.lock();
  ASSERT_TRUE(abandoned);
  EXPECT_EQ(rows_of(abandoned->pieces[0]), Numbers{1});
}

}  // namespace
}  // namespace stoker::serve
