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

/// Asks once more while it starts a request with the number 1, and notes who starts the others.
class AsksAgain final : public BatchRunner {
 public:
  Future<BatchOutputs> run(const std::shared_ptr<const Batch>& batch,
                           const CancelToken&) const override {
    const Numbers rows = rows_of(batch->pieces[0]);
    if (rows == Numbers{1})
      other = serving.run({{"x", value_of({2})}});
    else
      started_other = std::this_thread::get_id();
    return make_ready_future<BatchOutputs>(doubled({rows}));
  }
  NamedValues join(std::vector<Part> parts) const override { return joined(parts); }

  Serving serving;
  mutable Future<NamedValues> other;
  mutable std::thread::id started_other;
};

TEST(LoneRequestsOfOthers, are_not_started_by_the_thread_of_a_caller) {
  const System system;
  const auto runner = std::make_shared<AsksAgain>();
  const AnyModel model{std::make_shared<const DeclaredBackend>(
      system.device("null"), onnx::Dimension{.extent = {}, .symbol = "rows"})};
  const auto core =
      std::make_shared<ServingCore>(system.shared_executor(), model, RowLayout::of(model.inputs()),
                                    runner, checked({.workers = 2}), Run::here);
  core->set_supervisor(system.supervisor().start_child(core->child_spec()).get());
  runner->serving = Serving{core};
  for (int n = 0; n < 100; ++n) {
    const auto own = runner->serving.run({{"x", value_of({1})}});
    EXPECT_EQ(own.wait().value().size(), 1U);
    EXPECT_EQ(runner->other.wait().value().size(), 1U);
    EXPECT_NE(runner->started_other, std::this_thread::get_id());
  }
  core->supervisor().stop().get();
  runner->serving = {};
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
