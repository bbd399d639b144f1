// A serving on the deterministic scheduler, whose batches run and end when the test says so.
//
// Its model has one input, x float[rows]; a run gives y = 2 x. No device computes anything.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>

#include "stoker/actors/test_scheduler.hpp"
#include "stoker/api/serve/serving_core.hpp"
#include "stoker/api/system.hpp"

namespace stoker::serve {

using Numbers = std::vector<double>;

inline onnx::Value value_of(const Numbers& numbers) {
  return onnx::Known::reals(numbers, Shape{static_cast<std::int64_t>(numbers.size())});
}
inline Numbers numbers_of(const onnx::Value& value) { return value.known().to_reals(); }

/// y = 2 x, for each piece of a batch.
inline BatchOutputs doubled(const std::vector<Numbers>& pieces) {
  auto outputs = std::make_shared<std::vector<NamedValues>>();
  for (Numbers rows : pieces) {
    for (double& number : rows) number *= 2;
    outputs->push_back({{"y", value_of(rows)}});
  }
  return outputs;
}
/// The rows of a piece.
inline Numbers rows_of(const Piece& piece) {
  const Numbers all = numbers_of(piece.call->request().values[0]);
  const auto first = all.begin() + piece.first_row;
  return {first, first + piece.rows};
}
/// The parts of a split request together.
inline NamedValues joined(const std::vector<Part>& parts) {
  Numbers all;
  for (const Part& part : parts)
    for (const double number : numbers_of(part.outputs.at("y"))) all.push_back(number);
  return {{"y", value_of(all)}};
}

/// Keeps batches until the test ends them. Starting one that holds a negative number throws what ends a worker.
class HeldRunner final : public BatchRunner {
 public:
  struct Run {
    std::vector<Numbers> pieces;
    CancelToken cancel;
    std::shared_ptr<Promise<BatchOutputs>> answer;
    std::weak_ptr<const Batch> batch;
  };

  Future<BatchOutputs> run(const std::shared_ptr<const Batch>& batch,
                           const CancelToken& cancel) const override {
    ++started;
    std::vector<Numbers> pieces;
    for (const Piece& piece : batch->pieces) {
      for (const double number : pieces.emplace_back(rows_of(piece)))
        if (number < 0) throw std::runtime_error{"poison"};
    }
    if (at_once) return make_ready_future<BatchOutputs>(doubled(pieces));
    runs.push_back({std::move(pieces), cancel, std::make_shared<Promise<BatchOutputs>>(), batch});
    return runs.back().answer->future();
  }
  NamedValues join(std::vector<Part> parts) const override { return joined(parts); }

  void finish(std::size_t which = 0) {
    const Run run = take(which);
    run.answer->set(doubled(run.pieces));
  }
  void fail(std::size_t which = 0) {
    take(which).answer->set(Error{"kernel", ErrorCode::device_lost, "it broke"});
  }
  /// The rows of each batch that runs, all numbers of its pieces.
  [[nodiscard]] std::vector<Numbers> running() const {
    std::vector<Numbers> all;
    for (const Run& run : runs) {
      Numbers& numbers = all.emplace_back();
      for (const Numbers& rows : run.pieces)
        for (const double number : rows) numbers.push_back(number);
    }
    return all;
  }

  mutable std::deque<Run> runs;
  mutable int started = 0;
  bool at_once = false;  ///< batches have ended when they are started

 private:
  [[nodiscard]] Run take(std::size_t which) {
    Run run = runs.at(which);
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(which));
    return run;
  }
};

/// Declares the input, and computes nothing.
class DeclaredBackend final : public models::Backend {
 public:
  DeclaredBackend(Device device, onnx::Dimension rows) : device_{std::move(device)} {
    onnx::ValueInfo x;
    x.name = "x";
    x.type.kind = onnx::ValueKind::tensor;
    x.type.element = onnx::ElementType::f32;
    x.type.dims = std::vector{std::move(rows)};
    inputs_.push_back(x);
  }
  const std::vector<onnx::ValueInfo>& inputs() const noexcept override { return inputs_; }
  const std::vector<onnx::ValueInfo>& outputs() const noexcept override { return inputs_; }
  bool may_lack(const onnx::ValueInfo&) const override { return false; }
  const Device& device() const noexcept override { return device_; }
  AnyModelInfo info() const override { return {}; }
  Future<NamedValues> predict(const NamedValues&, const PredictOptions&) const override {
    throw Error{"predict", ErrorCode::unsupported, "it computes nothing"};
  }

 private:
  const Device device_;
  std::vector<onnx::ValueInfo> inputs_;
};

class ScheduledServing {
 public:
  /// `submit`: Run::here if requests may run on the thread that asks.
  ScheduledServing(const Device& device, TestScheduler given, const ServingOptions& options,
                   bool joins = true, Run submit = Run::posted)
      : scheduler{std::move(given)} {
    const AnyModel model{std::make_shared<const DeclaredBackend>(
        device, joins ? onnx::Dimension{.extent = {}, .symbol = "rows"}
                      : onnx::Dimension{.extent = 1, .symbol = {}})};
    const auto core =
        std::make_shared<ServingCore>(scheduler.executor(), model, RowLayout::of(model.inputs()),
                                      runner, checked(options), submit);
    const auto started =
        start_supervisor(scheduler.executor(), {.name = "program"}, {core->child_spec()});
    scheduler.run();
    program = started.get();
    core->set_supervisor(find("serving"));
    batcher = core->batcher();
    serving = Serving{core};
  }
  ~ScheduledServing() {
    program.exit(ExitReason::kill());
    scheduler.run();
  }
  ScheduledServing(const ScheduledServing&) = delete;
  ScheduledServing& operator=(const ScheduledServing&) = delete;

  /// A request that nothing was done for yet.
  Future<NamedValues> send(const Numbers& rows, const ServingRequestOptions& options = {}) const {
    return serving.run({{"x", value_of(rows)}}, options);
  }
  /// A request that has arrived.
  Future<NamedValues> ask(const Numbers& rows, const ServingRequestOptions& options = {}) {
    Future<NamedValues> future = send(rows, options);
    scheduler.run();
    return future;
  }
  void finish(std::size_t which = 0) {
    runner->finish(which);
    scheduler.run();
  }
  void fail(std::size_t which = 0) {
    runner->fail(which);
    scheduler.run();
  }
  void advance(Clock::duration time) {
    scheduler.advance(time);
    scheduler.run();
  }
  [[nodiscard]] ServingStatus status() {
    const Future<ServingStatus> answer = serving.status();
    scheduler.run();
    return answer.get();
  }
  /// The serving's supervisor or a child of it; empty if it does not run, or if the serving is ending.
  [[nodiscard]] ActorAddress find(const std::string& id) {
    ActorAddress below = child_of(program, "serving");
    if (id == "serving" || !below) return below;
    return child_of(Supervisor{ActorRef<SupervisorProcess>{below.cell()}}, id);
  }

  TestScheduler scheduler;
  std::shared_ptr<HeldRunner> runner = std::make_shared<HeldRunner>();
  Supervisor program;
  ActorRef<Batcher> batcher;
  Serving serving;

 private:
  [[nodiscard]] ActorAddress child_of(const Supervisor& supervisor, const std::string& id) {
    const auto children = supervisor.which_children();
    scheduler.run();
    // One that is ending answers no more.
    if (children.ready() && children.poll()->has_value())
      for (const ChildInfo& one : **children.poll())
        if (one.id == id) return one.actor;
    return {};
  }
};

/// Tests of one serving each.
class ScheduledServings : public testing::Test {
 protected:
  static void SetUpTestSuite() { system = std::make_unique<System>(); }
  static void TearDownTestSuite() { system.reset(); }
  ScheduledServing& start(const ServingOptions& options = {}, bool joins = true) {
    serving.emplace(system->device("null"), TestScheduler{}, options, joins);
    return *serving;
  }
  using Batches = std::vector<Numbers>;

  static inline std::unique_ptr<System> system;
  std::optional<ScheduledServing> serving;
};

/// The answer, which must be there.
inline Numbers answer_of(const Future<NamedValues>& future) {
  if (!future.ready()) {
    ADD_FAILURE() << "there is no answer yet";
    return {};
  }
  return numbers_of(future.get().at("y"));
}
inline Error error_of(const Future<NamedValues>& future) {
  if (!future.ready() || !future.poll()->has_error()) {
    ADD_FAILURE() << "it has not failed";
    return {};
  }
  return future.poll()->error();
}

}  // namespace stoker::serve
