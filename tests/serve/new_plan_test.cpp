// A batch whose plan has to be made, which may take any time, on the threads of a system.
#include <atomic>
#include <future>

#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

/// Makes its plans, one for each number of rows, when the test says so.
class SlowPlans final : public BatchRunner {
 public:
  Future<BatchOutputs> run(const std::shared_ptr<const Batch>& batch,
                           const CancelToken&) const override {
    if (++started == 1) has_started_.set_value();
    const double number = numbers_of(batch->pieces[0].call->request().values[0])[0];
    if (number < 0) throw std::runtime_error{"poison"};
    planned_.wait();
    return make_ready_future<BatchOutputs>(
        std::make_shared<std::vector<NamedValues>>(batch->pieces.size()));
  }
  NamedValues join(std::vector<Part>) const override { return {}; }
  void plan() { may_plan_.set_value(); }
  /// Returns when the first batch keeps the thread that makes plans.
  void await_start() { has_started_.get_future().wait(); }

  mutable std::atomic<int> started{0};

 private:
  mutable std::promise<void> has_started_;
  std::promise<void> may_plan_;
  std::shared_future<void> planned_ = may_plan_.get_future().share();
};

class NewPlans : public testing::Test {
 protected:
  Serving serve(const ServingOptions& options) {
    const AnyModel model{std::make_shared<const DeclaredBackend>(
        system.device("null"), onnx::Dimension{.extent = {}, .symbol = "rows"})};
    const auto core = std::make_shared<ServingCore>(
        system.shared_executor(), model, RowLayout::of(model.inputs()), runner, checked(options),
        Run::here, std::make_shared<BlockingPool>(BlockingOptions{.threads = 1}));
    core->set_supervisor(system.supervisor().start_child(core->child_spec()).get());
    return Serving{core};
  }

  const std::shared_ptr<SlowPlans> runner = std::make_shared<SlowPlans>();
  System system;
};

TEST_F(NewPlans, keep_no_caller_and_no_deadline_waiting) {
  const Serving serving = serve({.workers = 2});
  const auto first = serving.run({{"x", value_of({1})}});
  const auto second = serving.run({{"x", value_of({1, 2})}});
  const auto late = serving.run({{"x", value_of({3})}}, {.deadline = 1ms});
  EXPECT_EQ(late.wait().error().code(), ErrorCode::deadline_exceeded);
  EXPECT_FALSE(first.ready() || second.ready()) << "their plans are not there yet";
  EXPECT_EQ(serving.status().get().running, 2U);
  runner->plan();
  EXPECT_TRUE(first.wait() && second.wait());
}

TEST_F(NewPlans, are_not_made_once_nobody_waits_for_them) {
  const Serving serving = serve({.workers = 2});
  const auto first = serving.run({{"x", value_of({1})}});
  runner->await_start();
  const auto second = serving.run({{"x", value_of({1, 2})}});
  EXPECT_EQ(serving.status().get().running, 2U) << "it waits for the thread that makes plans";
  second.cancel();
  EXPECT_EQ(serving.status().get().running, 2U) << "the cancelled batch still waits for it";
  runner->plan();
  serving.drain().get();
  EXPECT_EQ(runner->started, 1);
}

TEST_F(NewPlans, end_the_worker_if_they_throw_anything_but_an_error) {
  runner->plan();
  const Serving serving = serve({});
  EXPECT_EQ(serving.run({{"x", value_of({-1})}}).wait().error().code(), ErrorCode::handler_failed);
  EXPECT_TRUE(serving.run({{"x", value_of({1})}}).wait());
  EXPECT_EQ(serving.status().get().totals.crashes, 1U);
}

TEST_F(NewPlans, are_no_reason_to_wait_for_their_end_after_the_time_for_it) {
  const Serving serving = serve({.shutdown = 1ms});
  const auto running = serving.run({{"x", value_of({1})}});
  serving.stop().get();
  EXPECT_EQ(running.wait().error().code(), ErrorCode::closed);
  runner->plan();
}

}  // namespace
}  // namespace stoker::serve
