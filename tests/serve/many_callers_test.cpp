// Many threads ask one serving at once, and cancel, and come too late, while workers crash: each request has one
// answer, its own, and the totals add up.
#include <atomic>
#include <random>
#include <thread>

#include "stoker/tests/serve/scheduled_serving.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

/// y = 2 x: at once or by another thread. Some batches fail, and some end their worker.
class UnreliableRunner final : public BatchRunner {
 public:
  explicit UnreliableRunner(std::shared_ptr<Executor> executor) : executor_{std::move(executor)} {}

  Future<BatchOutputs> run(const std::shared_ptr<const Batch>& batch,
                           const CancelToken&) const override {
    std::vector<Numbers> pieces;
    pieces.reserve(batch->pieces.size());
    for (const Piece& piece : batch->pieces) pieces.push_back(rows_of(piece));
    const unsigned number = started_.fetch_add(1);
    if (number % 101 == 100) throw std::runtime_error{"crash"};
    if (number % 23 == 22) throw Error{"kernel", ErrorCode::device_lost, "it broke"};
    if (number % 2 == 0) return make_ready_future<BatchOutputs>(doubled(pieces));
    return make_ready_future().then(
        *executor_, [outputs = doubled(pieces)](const Result<void>&) { return outputs; });
  }
  NamedValues join(std::vector<Part> parts) const override { return joined(parts); }

 private:
  const std::shared_ptr<Executor> executor_;
  mutable std::atomic<unsigned> started_{0};
};

class ManyCallers : public testing::TestWithParam<BatchRetry> {
 protected:
  struct Seen {
    std::atomic<std::uint64_t> results{0}, cancelled{0}, others{0}, wrong{0}, refused{0};
  };

  Serving serve(const ServingOptions& options) {
    const AnyModel model{std::make_shared<const DeclaredBackend>(
        system.device("null"), onnx::Dimension{.extent = {}, .symbol = "rows"})};
    const auto core = std::make_shared<ServingCore>(
        system.shared_executor(), model, RowLayout::of(model.inputs()),
        std::make_shared<const UnreliableRunner>(system.shared_executor()), checked(options),
        stoker::Run::here, std::make_shared<BlockingPool>(BlockingOptions{.threads = 1}));
    core->set_supervisor(system.supervisor().start_child(core->child_spec()).get());
    return Serving{core};
  }

  static void ask(const Serving& serving, unsigned seed, Seen& seen) {
    std::mt19937 random{seed};
    std::vector<std::pair<Numbers, Future<NamedValues>>> asked;
    for (int n = 0; n < 300; ++n) {
      Numbers rows(1 + random() % 6);
      for (double& row : rows) row = static_cast<double>(random() % 100'000);
      ServingRequestOptions options{.priority = random() % 3, .key = random() % 2 != 0 ? "a" : "b"};
      if (random() % 8 == 0) options.deadline = std::chrono::microseconds{random() % 300};
      asked.emplace_back(rows, serving.run({{"x", value_of(rows)}}, options));
      if (random() % 2 == 0) asked.back().second.wait();  // such callers may compute themselves
      if (random() % 4 == 0) asked[random() % asked.size()].second.cancel();
    }
    for (const auto& [rows, future] : asked) {
      const Result<NamedValues>& answer = future.wait();
      if (!answer) {
        const ErrorCode code = answer.error().code();
        ++(code == ErrorCode::cancelled    ? seen.cancelled
           : code == ErrorCode::overloaded ? seen.refused
                                           : seen.others);
        continue;
      }
      ++seen.results;
      const Numbers numbers = numbers_of(answer->at("y"));
      bool right = numbers.size() == rows.size();
      for (std::size_t i = 0; right && i < rows.size(); ++i) right = numbers[i] == 2 * rows[i];
      if (!right) ++seen.wrong;
    }
  }

  System system;
};

TEST_P(ManyCallers, get_one_answer_for_each_request_and_totals_add_up) {
  const Serving serving = serve({.batch_size = 4,
                                 .workers = 2,
                                 .priorities = {{}, {.timeout = 5ms, .action = LateAction::delay}},
                                 .batch_keys = {"a", "b"},
                                 .max_requests = 64,
                                 .retry = GetParam(),
                                 .intensity = 1'000'000});
  Seen seen;
  {
    std::vector<std::jthread> threads;
    threads.reserve(6);
    for (unsigned t = 0; t < 6; ++t) threads.emplace_back([&, t] { ask(serving, t, seen); });
  }
  serving.drain().get();
  const ServingStatus status = serving.status().get();
  const ServingTotals& totals = status.totals;
  EXPECT_EQ(seen.wrong, 0U) << "these are the rows of somebody else";
  EXPECT_EQ(totals.answered, seen.results);
  EXPECT_EQ(totals.cancelled, seen.cancelled);
  EXPECT_EQ(totals.failed + totals.expired, seen.others);
  EXPECT_EQ(totals.refused, seen.refused);
  EXPECT_EQ(totals.accepted, 1800 - seen.refused);
  EXPECT_EQ(status.queued, 0U);
  EXPECT_EQ(status.queued_bytes, 0U);
  EXPECT_EQ(status.running, 0U);
}

INSTANTIATE_TEST_SUITE_P(Serving, ManyCallers,
                         testing::Values(BatchRetry::never, BatchRetry::once,
                                         BatchRetry::one_by_one));

}  // namespace
}  // namespace stoker::serve
