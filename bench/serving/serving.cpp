// Servings inside a program: many callers against offline batches, one caller against a direct run, a batch key beside
// a flooded one, the batcher alone, and how fast it refuses.
#include "stoker/api/serve.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve/serving_core.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/allocation_count.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/temporary_folder.hpp"
#include "stoker/bench/onnx/made_models.hpp"
#include "stoker/bench/onnx/our_model.hpp"
#include "stoker/bench/serving/echo_backend.hpp"

namespace stoker::bench {
namespace {

constexpr int callers = 64;
constexpr std::int64_t batch_size = 32;

/// Rows of the model's only input, on the device.
NamedValues rows_of(const AnyModel& model, std::int64_t rows) {
  const DeviceScope scope{model.device()};
  const onnx::ValueInfo& input = model.inputs().at(0);
  std::vector<std::int64_t> extents{rows};
  for (std::size_t axis = 1; axis < input.type.dims->size(); ++axis)
    extents.push_back((*input.type.dims)[axis].extent.value());
  const Shape shape = Shape::make(extents, "serving");
  return {{input.name,
           tensor(std::vector<float>(static_cast<std::size_t>(shape.elements()), 0.5F), shape)}};
}

void run_directly(const AnyModel& model, const NamedValues& inputs) {
  wait_for(model.predict(inputs).get());
}

/// All callers ask in a closed loop until `seconds` have passed. Returns rows a second; `latencies` gets the seconds of
/// each request.
double closed_loop(const Serving& serving, const NamedValues& row, double seconds,
                   Samples& latencies, std::string_view key = {}) {
  std::atomic<bool> done{false};
  std::vector<std::vector<double>> of_callers(callers);
  std::vector<std::jthread> threads;
  threads.reserve(callers);
  const auto start = Clock::now();
  for (std::vector<double>& times : of_callers)
    threads.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed))
        times.push_back(seconds_of([&] { wait_for(serving.run(row, {.key = key}).get()); }));
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  done = true;
  threads.clear();
  const double passed = seconds_since(start);
  std::size_t count = 0;
  for (const std::vector<double>& times : of_callers) {
    count += times.size();
    for (const double time : times) latencies.add(time);
  }
  return static_cast<double>(count) / passed;
}

/// One thread that keeps as many requests in flight, as an event loop does. Returns rows a second.
double requests_ahead(const Serving& serving, const NamedValues& row, double seconds) {
  std::vector<Future<NamedValues>> asked;
  asked.reserve(callers);
  for (int i = 0; i < callers; ++i) asked.push_back(serving.run(row));
  std::size_t count = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds)
    for (Future<NamedValues>& one : asked) {
      wait_for(one.get());
      one = serving.run(row);
      ++count;
    }
  const double passed = seconds_since(start);
  for (const Future<NamedValues>& one : asked) static_cast<void>(one.wait());
  return static_cast<double>(count) / passed;
}

void against_offline(Context& context, const System& system, const AnyModel& model,
                     const std::string& name) {
  const Serving serving =
      start_serving(system.supervisor(), model, {.name = name, .batch_size = batch_size});
  const NamedValues row = rows_of(model, 1);
  const NamedValues batch = rows_of(model, batch_size);
  if (const ServingStatus status = serving.status().get(); !status.joins)
    return context.report.skip(name, status.reason);
  Samples latencies;
  Samples batch_seconds;
  const Duel rates = duel(
      context.repeats(10), [&] { return closed_loop(serving, row, 0.5, latencies); },
      [&] {
        const int runs = calls_to_fill(0.25, [&] { run_directly(model, batch); });
        const double seconds = seconds_of([&] {
          for (int i = 0; i < runs; ++i) run_directly(model, batch);
        });
        batch_seconds.add(seconds / runs);
        return batch_size * runs / seconds;
      });
  const ServingTotals totals = serving.status().get().totals;
  const double rows_each = static_cast<double>(totals.rows) / static_cast<double>(totals.batches);
  context.report.add(Row{name + ", 64 callers", rates.ours, "rows/s", Better::higher}
                         .against("batches of 32, offline", rates.peer)
                         .aim_ratio(0.95)
                         .remark(std::to_string(rows_each).substr(0, 4) + " rows a batch"));
  context.report.add(
      Row{name + ", 64 callers, p99", latencies.quantile(0.99) * 1e3, "ms", Better::lower}
          .against("a batch of 32", batch_seconds.median() * 1e3)
          .aim_ratio(2.2));
  const Samples ahead =
      sample(context.repeats(10), [&] { return requests_ahead(serving, row, 0.5); });
  context.report.add(Row{name + ", one thread 64 ahead", ahead, "rows/s", Better::higher}.against(
      "batches of 32, offline", rates.peer));
  const Duel idle = duel(
      context.repeats(2000), [&] { return seconds_of([&] { wait_for(serving.run(row).get()); }); },
      [&] { return seconds_of([&] { run_directly(model, row); }); });
  context.report.add(
      Row{name + ", one caller, p50", idle.ours.scaled(1e6), "µs", Better::lower}.against(
          "direct run", idle.peer.scaled(1e6)));
  context.report.add(Row{name + ", one caller beyond a direct run, p50",
                         (idle.ours.median() - idle.peer.median()) * 1e6, "µs", Better::lower}
                         .aim(5));
  serving.stop().get();
}

/// What one caller of a key waits while 64 flood another one.
void flooded_key(Context& context, const System& system, const AnyModel& model) {
  const Serving serving =
      start_serving(system.supervisor(), model,
                    {.name = "keys", .batch_size = batch_size, .batch_keys = {"flooded", "other"}});
  const NamedValues row = rows_of(model, 1);
  const NamedValues batch = rows_of(model, batch_size);
  const auto ask = [&](Samples& into) {
    into.add(seconds_of([&] { wait_for(serving.run(row, {.key = "other"}).get()); }));
  };
  Samples alone;
  for (int i = 0; i < context.repeats(2000); ++i) ask(alone);
  const Samples a_batch =
      sample(context.repeats(100), [&] { return seconds_of([&] { run_directly(model, batch); }); });
  Samples beside;
  Samples flood;
  {
    std::atomic<bool> done{false};
    const std::jthread other{[&] {
      while (!done.load(std::memory_order_relaxed)) ask(beside);
    }};
    static_cast<void>(closed_loop(serving, row, context.repeats(10) * 0.25, flood, "flooded"));
    done = true;
  }
  const double aim = 2 * alone.quantile(0.99) + a_batch.median();
  context.report.add(Row{"cnn, a key beside one that 64 callers flood, p99",
                         beside.quantile(0.99) * 1e3, "ms", Better::lower}
                         .against("twice alone, and a batch", aim * 1e3)
                         .aim_ratio(1)
                         .remark("flooded key p99 " +
                                 std::to_string(flood.quantile(0.99) * 1e3).substr(0, 5) + " ms"));
  serving.stop().get();
}

/// Answers at once with nothing, or only when it ends.
class NullRunner final : public serve::BatchRunner {
 public:
  explicit NullRunner(bool answers) : answers_{answers} {}
  void end() { held_.set(Error{"bench", ErrorCode::cancelled, "it is over"}); }
  Future<serve::BatchOutputs> run(const std::shared_ptr<const serve::Batch>& batch,
                                  const CancelToken&) const override {
    if (!answers_) return held_.future();
    return make_ready_future<serve::BatchOutputs>(
        std::make_shared<std::vector<NamedValues>>(batch->pieces.size()));
  }
  NamedValues join(std::vector<serve::Part>) const override { return {}; }

 private:
  const bool answers_;
  Promise<serve::BatchOutputs> held_;
};

Serving null_serving(const System& system, const ServingOptions& options,
                     const std::shared_ptr<const NullRunner>& runner) {
  const AnyModel model{std::make_shared<const EchoBackend>(
      system.device("null"), "x", std::vector<onnx::Dimension>{{.extent = {}, .symbol = "rows"}})};
  const auto core = std::make_shared<serve::ServingCore>(system.shared_executor(), model,
                                                         serve::RowLayout::of(model.inputs()),
                                                         runner, serve::checked(options));
  core->set_supervisor(system.supervisor().start_child(core->child_spec()).get());
  return Serving{core};
}

const NamedValues one_number{{"x", onnx::Known::reals(std::vector<double>{1}, Shape{1})}};

void batcher_alone(Context& context, const System& system) {
  const Serving serving = null_serving(system, {.name = "alone", .batch_size = batch_size},
                                       std::make_shared<const NullRunner>(true));
  constexpr int requests = 100'000;
  constexpr std::size_t ahead = 512;
  const auto ask = [&] {
    std::vector<Future<NamedValues>> asked(ahead);
    for (int i = 0; i < requests; ++i) {
      Future<NamedValues>& place = asked[static_cast<std::size_t>(i) % ahead];
      if (place.valid()) static_cast<void>(place.wait());
      place = serving.run(one_number);
    }
    for (const Future<NamedValues>& one : asked) static_cast<void>(one.wait());
  };
  const Samples seconds = sample(context.repeats(20), [&] { return seconds_of(ask); });
  context.report.add(
      Row{"batcher alone", seconds.rates(requests * 1e-3), "k/s", Better::higher}.aim(500).remark(
          "one caller, 512 requests ahead; the model is a function that returns"));
  Samples latencies;
  const Samples switches = sample(
      context.repeats(10), [&] { return closed_loop(serving, one_number, 0.25, latencies); });
  context.report.add(
      Row{"batcher alone, 64 callers", switches.scaled(1e-3), "k/s", Better::higher}.remark(
          "each waits for its answer: what waking threads allows"));
  const AllocationCount count;
  ask();
  context.report.add(Row{"batcher alone, allocations a request",
                         static_cast<double>(count.calls()) / requests, "", Better::lower}
                         .remark(std::to_string(count.bytes() / requests) + " bytes"));
  serving.stop().get();
}

void refusals(Context& context, const System& system) {
  const auto runner = std::make_shared<NullRunner>(false);
  const Serving serving = null_serving(system, {.name = "full", .max_requests = 1024}, runner);
  std::vector<Future<NamedValues>> waiting;  // a batch runs, the others fill the queue
  waiting.reserve(1025);
  for (int i = 0; i < 1025; ++i) waiting.push_back(serving.run(one_number));
  Samples seconds;
  for (int i = 0; i < context.repeats(20'000); ++i)
    seconds.add(seconds_of([&] { static_cast<void>(serving.run(one_number).wait()); }));
  context.report.add(
      Row{"refusal beyond the queue, p99", seconds.quantile(0.99) * 1e6, "µs", Better::lower}.aim(
          1000));
  for (const Future<NamedValues>& one : waiting) one.cancel();
  runner->end();
  serving.stop().get();
}

}  // namespace

void serving(Context& context) {
  const System system;
  batcher_alone(context, system);
  refusals(context, system);
  serving_bodies(context);
  serving_http(context);
  const TemporaryFolder folder;
  write_made_models(folder.path());
  const Device cpu = system.device("cpu");
  for (const char* name : {"mlp", "cnn", "encoder"})
    against_offline(context, system,
                    load_model(folder.path() / name / "model.onnx", {.device = cpu}), name);
  flooded_key(context, system, load_model(folder.path() / "cnn" / "model.onnx", {.device = cpu}));
}

}  // namespace stoker::bench
