// Deadlines and cancellation of evaluations and of traced functions.
#include <thread>

#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using std::chrono::seconds;

/// Time and the device's completions are in the test's hands.
class TensorLimits : public testing::Test {
 protected:
  /// A tensor whose elements come when `line` does.
  [[nodiscard]] Tensor late() const {
    const Buffer buffer = device.buffer({0.0F, 0.0F});
    buffer.write(std::vector{1.0F, 2.0F}, 0, {.waits = {{line, 1}}});
    return Tensor{buffer};
  }
  /// x + 1, by a function of the program's that counts its calls.
  [[nodiscard]] Tensor counted(const Tensor& x) {
    return host_call(x.spec(),
                     [this](const std::vector<Tensor>& in) {
                       ++calls;
                       return in[0] + 1;
                     },
                     {x});
  }
  [[nodiscard]] static Error outcome(const Future<>& done) {
    const Result<void>& told = done.wait();
    return told ? Error{} : told.error();
  }
  void wait_until_held() const {
    while (faults.counters().held == 0) std::this_thread::yield();
  }
  [[nodiscard]] CommandOptions soon() const { return {.deadline = clock->now() + seconds{1}}; }
  [[nodiscard]] CommandOptions over() const { return {.deadline = clock->now()}; }

  const Faults faults;
  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  const std::shared_ptr<Timeline> line = std::make_shared<Timeline>();
  std::atomic<int> calls{0};
  const System system{[this] {
    SystemOptions options;
    options.clock = clock;
    options.drivers = with_faults(faults);
    options.stall_limit = std::chrono::nanoseconds{0};
    return options;
  }()};
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
};

TEST_F(TensorLimits, that_are_over_let_nothing_run) {
  const Tensor x = tensor({1.0, 2.0}).eval();
  const auto f = jit([this](const Tensor& v) { return counted(v * 2); });
  const auto ready = f.compile(device, x);
  const CommandOptions limits = over();
  for (const Tensor& y : {f.with(limits)(x), ready.with(limits)(x), counted(x).eval(limits)})
    EXPECT_EQ(code_of([&] { return y.to_vector<float>(); }), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of([&] { return counted(x).read<float>(limits).get(); }),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of([&] { return counted(x).to_vector<float>(limits); }),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of([&] { return counted(sum(x)).item<float>(limits); }),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(outcome(computed({counted(x), counted(x + 1)}, limits)).code(),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(calls, 0);
  // The function itself, what it was given and other expressions of the same are none the worse.
  expect_near(f(x), {3, 5});
  expect_near(ready(x), {3, 5});
  expect_near(counted(x), {2, 3});
}

TEST_F(TensorLimits, hold_for_functions_of_the_program_that_take_nothing) {
  const auto drawn = [this] {
    return host_call({DType::f32, Shape{2}},
                     [this](const std::vector<Tensor>&) {
                       ++calls;
                       return ones({2});
                     },
                     {});
  };
  const Tensor refused = drawn().eval(over());
  EXPECT_EQ(code_of([&] { return refused.to_vector<float>(); }), ErrorCode::deadline_exceeded);
  const Tensor waiting = drawn().eval({.waits = {{line, 1}}});
  EXPECT_FALSE(waiting.computed().ready());
  EXPECT_EQ(calls, 0);
  line->advance(1);
  expect_near(waiting, {1, 1});
}

TEST_F(TensorLimits, functions_of_the_program_that_wait_take_no_threads) {
  const Tensor x = late();
  std::vector<Tensor> sums;
  for (int i = 0; i < 64; ++i)
    sums.push_back(host_call({DType::f32, Shape{}},
                             [&](const std::vector<Tensor>& in) {
                               ++calls;
                               return in[0] + x.to_vector<float>()[1];
                             },
                             {full({}, i)})
                       .eval());
  while (calls < 64) std::this_thread::yield();
  line->advance(1);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)].item<float>(), i + 2);
}

TEST_F(TensorLimits, end_what_waits) {
  const CancelSource request;
  const CommandOptions group{.cancel = request.token()};
  const Tensor x = late();
  const auto f = jit([this](const Tensor& v) { return counted(v * 2); });
  const Tensor y = f.with(group)(x);
  const Tensor z = x * 3;
  const auto values = z.read<float>(group);
  const auto in_time = f.with(soon())(x);
  EXPECT_FALSE(values.ready());
  request.cancel(cancelled_error("request"));
  EXPECT_EQ(outcome(y.computed(group)).op(), "request");
  EXPECT_EQ(values.wait().error().op(), "request");
  clock->advance(seconds{1});
  EXPECT_EQ(outcome(in_time.computed(soon())).code(), ErrorCode::deadline_exceeded);
  line->advance(1);
  EXPECT_EQ(outcome(y.computed()).op(), "request") << "and so it stays";
  EXPECT_EQ(calls, 0);
  expect_near(f(x), {3, 5});
}

TEST_F(TensorLimits, tell_who_waits_for_what_runs) {
  const Tensor x = tensor({1.0, 2.0}).eval();
  x.computed().get();
  const auto f = jit([](const Tensor& v) { return v * 2; });
  expect_near(f(x), {2, 4});
  faults.hold_completions();
  const CommandOptions limits = soon();
  const Tensor y = f.with(limits)(x);
  const Future<> done = y.computed(limits);
  wait_until_held();
  EXPECT_FALSE(done.ready());
  clock->advance(seconds{1});
  EXPECT_EQ(outcome(done).code(), ErrorCode::deadline_exceeded);
  faults.release_all();
  EXPECT_EQ(outcome(y.computed()).code(), ErrorCode::deadline_exceeded);
  expect_near(f(x), {2, 4});
}

TEST_F(TensorLimits, leave_what_has_been_computed) {
  const CancelSource request;
  const CommandOptions limits{.deadline = clock->now() + seconds{1}, .cancel = request.token()};
  const Tensor y = jit([](const Tensor& v) { return v * 2; }).with(limits)(tensor({1.0, 2.0}));
  y.computed().get();
  request.cancel(cancelled_error("request"));
  clock->advance(seconds{2});
  expect_near(y, {2, 4});
}

TEST_F(TensorLimits, end_loops_between_their_rounds) {
  for (const bool scans : {false, true}) {
    const CancelSource request;
    calls = 0;
    const auto round = [&](const Tensor& v) {
      return host_call(v.spec(),
                       [&](const std::vector<Tensor>& in) {
                         if (++calls == 3) request.cancel(cancelled_error("request"));
                         return in[0] + 1;
                       },
                       {v});
    };
    const auto f = jit([&](const Tensor& x) {
      if (scans)
        return scan(
                   [&](const Tensor& state, const Tensor& one) {
                     return std::pair{round(state), one};
                   },
                   x, iota({1000}))
            .first;
      return while_loop(
          x, [](const Tensor& v) { return v < 1000; }, round);
    });
    const Tensor y = f.with({.cancel = request.token()})(tensor(0.0));
    EXPECT_EQ(outcome(y.computed()).op(), "request");
    EXPECT_EQ(calls, 3);
  }
}

TEST_F(TensorLimits, may_wait_for_points_of_timelines) {
  const auto f = jit([this](const Tensor& v) { return counted(v); });
  const Tensor y = f.with({.waits = {{line, 1}}})(tensor({1.0, 2.0}));
  const Future<> done = y.computed();
  EXPECT_FALSE(done.ready());
  EXPECT_EQ(calls, 0);
  line->advance(1);
  expect_near(y, {2, 3});
}

}  // namespace
}  // namespace stoker
