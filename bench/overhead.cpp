// Our own cost per command. The null device completes everything at once, so what remains is the
// public path: checks, the actor's turn, the scheduler's bookkeeping, completion and wake-up.
#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/bench/harness/allocation_count.hpp"
#include "stoker/bench/harness/groups.hpp"

namespace stoker::bench {
namespace {

constexpr int pairs = 64;

/// Buffers for commands that do not depend on each other, in a row of `pairs`.
struct Operands {
  explicit Operands(const Device& device) {
    for (int i = 0; i < pairs; ++i) {
      a.push_back(device.buffer(DType::f32, Shape{16}));
      b.push_back(device.buffer(DType::f32, Shape{16}));
      c.push_back(device.buffer(DType::f32, Shape{16}));
    }
  }
  std::vector<Buffer> a, b, c;
};

/// A thread that sleeps until it is told to answer: what any hand-over to another thread costs.
class SleepingThread {
 public:
  SleepingThread() : thread_{[this] { run(); }} {}
  ~SleepingThread() {
    tell(State::end);
    thread_.join();
  }
  /// Seconds from the call until the thread has seen it.
  double hand_over() {
    const auto start = Clock::now();
    tell(State::asked);
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return state_ == State::answered; });
    state_ = State::idle;
    return std::chrono::duration<double>(seen_ - start).count();
  }

 private:
  enum class State { idle, asked, answered, end };
  void tell(State state) {
    const std::scoped_lock lock{mutex_};
    state_ = state;
    changed_.notify_all();
  }
  void run() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return state_ == State::asked || state_ == State::end; });
      if (state_ == State::end) return;
      seen_ = Clock::now();
      state_ = State::answered;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::idle;
  Clock::time_point seen_;
  std::thread thread_;  // last: it uses the others
};

void throughput(Context& context, const Device& device, const Operands& operands) {
  std::vector<KernelCallRequest> calls;
  for (int i = 0; i < 1024; ++i)
    calls.push_back(
        {"add", {operands.a[i % pairs], operands.b[i % pairs]}, {operands.c[i % pairs]}});
  const auto batched = sample(context.repeats(200), [&] {
    return seconds_of([&] { keep(device.submit(calls).back().poll()); }) / 1024;
  });
  context.report.add(Row{"commands in batches of 1024", batched.rates(1e-6), "M/s", Better::higher}
                         .aim(1.0)
                         .remark("Device::submit(span of KernelCallRequest)"));
  const auto single = sample(context.repeats(200), [&] {
    return seconds_of([&] {
             for (int i = 0; i < 1024; ++i)
               keep(device
                        .submit("add", {operands.a[i % pairs], operands.b[i % pairs]},
                                operands.c[i % pairs])
                        .poll());
           }) /
           1024;
  });
  context.report.add(Row{"commands one by one", single.rates(1e-6), "M/s", Better::higher});
  {
    const AllocationCount count;
    static_cast<void>(device.submit("add", {operands.a[0], operands.b[0]}, operands.c[0]));
    context.report.add(
        Row{"allocations of one submit", static_cast<double>(count.calls()), "", Better::lower});
  }
}

void add_percentiles(Context& context, const std::string& name, const Samples& seconds,
                     const std::string& note, std::optional<double> aim_us,
                     const Samples* peer = nullptr) {
  const Samples us = seconds.scaled(1e6);
  Row median{name + ", p50", us, "µs", Better::lower};
  Row late{name + ", p99", us.quantile(0.99), "µs", Better::lower};
  late.n = us.size();
  if (aim_us) median.aim(*aim_us);
  if (peer) {
    const Samples peer_us = peer->scaled(1e6);
    median.against("condition variable", peer_us);
    late.against("condition variable", peer_us.quantile(0.99));
  }
  context.report.add(median.remark(note));
  context.report.add(late);
}

/// Remembers when it was woken.
class Stamp final : public Waiter {
 public:
  void wake() noexcept override { at = Clock::now(); }
  Clock::time_point at;
};

void callbacks(Context& context, const System& system, const Device& device,
               const Operands& operands) {
  const int count = context.repeats(20000);
  const auto submit = [&] {
    return device.submit("add", {operands.a[0], operands.b[0]}, operands.c[0]);
  };

  Stamp stamp;
  const auto direct = sample(count, [&] {
    const auto start = Clock::now();
    const Command command = submit();
    command.future().on_ready(stamp);
    return std::chrono::duration<double>(stamp.at - start).count();
  });
  add_percentiles(context, "submit → callback in place", direct,
                  "Future::on_ready(Waiter), no executor", 2.0);

  boost::asio::io_context loop{1};
  const auto on_loop = sample(count, [&] {
    double seconds = 0;
    const auto start = Clock::now();
    async_wait(submit(), boost::asio::bind_executor(loop.get_executor(), [&](const Result<void>&) {
                 seconds = seconds_since(start);
               }));
    loop.restart();
    loop.run();
    return seconds;
  });
  add_percentiles(context, "submit → async_wait handler", on_loop,
                  "handler on an io_context run by the submitting thread", 2.0);

  // The pool's thread sleeps, so this is mostly the price of waking a thread.
  SleepingThread sleeper;
  const auto handed = duel(
      count / 4,
      [&] {
        const auto start = Clock::now();
        return submit()
            .then(system.executor(), [start](const Result<void>&) { return seconds_since(start); })
            .get();
      },
      [&] { return sleeper.hand_over(); });
  add_percentiles(context, "submit → then() on a sleeping pool thread", handed.ours,
                  "Command::then", {}, &handed.peer);
}

/// x → relu → … → y on the null device.
Pipeline chain(const System& system, const Device& device, int length) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", {DType::f32, Shape{16}});
  std::string last = "x";
  for (int i = 0; i < length; ++i) {
    const std::string next = "t" + std::to_string(i);
    pipeline.add("relu", {last}, next);
    last = next;
  }
  pipeline.output(last);
  return pipeline;
}

void replays(Context& context, const System& system, const Device& device) {
  const Buffer x = device.buffer(DType::f32, Shape{16});
  const Buffer y = device.buffer(DType::f32, Shape{16});
  const auto cost_of = [&](int length) {
    const Pipeline pipeline = chain(system, device, length);
    const Bindings bindings{{"x", x}, {"t" + std::to_string(length - 1), y}};
    pipeline.run(bindings).get();
    return sample(context.repeats(200), [&] {
      return seconds_of([&] {
               for (int i = 0; i < 100; ++i) keep(pipeline.run(bindings).poll());
             }) /
             100;
    });
  };
  const Samples ten = cost_of(10);
  const Samples thousand = cost_of(1000);
  context.report.add(Row{"replay of a 10-step pipeline", ten.scaled(1e6), "µs", Better::lower});
  context.report.add(Row{"each further step",
                         std::max(0.0, thousand.median() - ten.median()) * 1e9 / 990, "ns",
                         Better::lower}
                         .remark("(1000 steps − 10 steps) ÷ 990"));

  const Pipeline pipeline = chain(system, device, 10);
  const Bindings bindings{{"x", x}, {"t9", y}};
  for (int i = 0; i < 100; ++i) pipeline.run(bindings).get();
  constexpr int runs = 1000;
  const AllocationCount count;
  for (int i = 0; i < runs; ++i) static_cast<void>(pipeline.run(bindings).wait());
  const auto calls = static_cast<double>(count.calls());
  const auto bytes = static_cast<double>(count.bytes());
  context.report.add(
      Row{"heap allocations per replay", calls / runs, "", Better::lower}.aim(0).remark(
          "operator new on all threads, " + std::to_string(static_cast<int>(bytes / runs)) +
          " bytes"));
}

/// Commands that wait for a host timeline: what each costs to submit and to let go, and what they cost
/// others.
void waiting(Context& context, const Device& device, const Operands& operands) {
  for (const int count : {10'000, 100'000}) {
    const auto line = std::make_shared<Timeline>();
    const CommandOptions held{.waits = {{line, 1}}};
    const auto microseconds_each = [&](Clock::time_point since, int commands) {
      return std::chrono::duration<double, std::micro>(Clock::now() - since).count() / commands;
    };
    std::vector<Command> all;
    all.reserve(static_cast<std::size_t>(count));
    auto start = Clock::now();
    for (int i = 0; i < count; ++i)
      all.push_back(device.submit("relu", {operands.a[0]}, operands.b[0], {}, held));
    const double submit = microseconds_each(start, count);
    start = Clock::now();
    for (int i = 0; i < 1000; ++i) device.submit("relu", {operands.a[1]}, operands.b[1]).get();
    const double other = microseconds_each(start, 1000);
    start = Clock::now();
    line->advance(1);
    for (const Command& command : all) command.get();
    const double release = microseconds_each(start, count);
    const std::string name = std::to_string(count) + " commands wait for a timeline: ";
    context.report.add(Row{name + "submit each", submit, "µs", Better::lower});
    context.report.add(Row{name + "another beside them", other, "µs", Better::lower});
    context.report.add(Row{name + "let go each", release, "µs", Better::lower});
  }
}

}  // namespace

void overhead(Context& context) {
  const System system;
  const Device device = system.device("null");
  const Operands operands{device};
  throughput(context, device, operands);
  callbacks(context, system, device, operands);
  waiting(context, device, operands);
  replays(context, system, device);
}

}  // namespace stoker::bench
