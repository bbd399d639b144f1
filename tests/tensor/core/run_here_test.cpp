// Programs that the calling thread runs itself, past the device's queue.
#include <thread>

#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/tests/api/gated_kernel.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class RunHere : public testing::Test {
 protected:
  ~RunHere() override { gate.release(); }
  /// Ones, which the device computes until the gate opens.
  [[nodiscard]] Tensor busy() {
    system.add_kernel(gate.kernel("gated"));
    const Buffer from = device.buffer({1.0F, 1.0F});
    const Buffer to = device.buffer(DType::f32, {2});
    device.submit("gated", {from}, to);
    gate.wait_entered();
    return Tensor{to};
  }
  /// Takes longer than to hand it over.
  [[nodiscard]] Tensor long_sum(const Tensor& row) const { return matmul(row, weights); }
  [[nodiscard]] std::uint64_t submissions() const { return device.stats().commands.submissions; }

  GatedKernel gate;
  System system;
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
  const Tensor weights = full({200, 256}, 0.5).eval();
};

TEST_F(RunHere, a_little_work_on_what_is_there_is_done_while_the_device_is_busy) {
  const Tensor x = tensor({1.0, 2.0}).eval();
  const Tensor blocked = busy();
  const Tensor y = (x + 1).eval();
  EXPECT_TRUE(y.computed().ready());
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_FALSE(blocked.computed().ready());
}

TEST_F(RunHere, what_stands_on_work_that_is_to_come_waits_for_it) {
  const Tensor y = (busy() + 1).eval();
  const Future<> done = y.computed();
  EXPECT_FALSE(done.ready());
  gate.release();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST_F(RunHere, a_write_that_was_sent_before_comes_first) {
  const Buffer in = device.buffer({1.0F, 1.0F});
  const auto line = std::make_shared<Timeline>();
  in.write(std::vector{5.0F, 6.0F}, 0, {.waits = {{line, 1}}});
  const Tensor y = (Tensor{in} + 1).eval();
  EXPECT_FALSE(y.computed().ready());
  line->advance(1);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{6, 7}));
}

TEST_F(RunHere, a_write_that_failed_fails_it) {
  const Buffer in = device.buffer({1.0F, 1.0F});
  const auto line = std::make_shared<Timeline>();
  in.write(std::vector{5.0F, 6.0F}, 0, {.waits = {{line, 1}}});
  line->fail(Error{"upload", ErrorCode::io_error, "no more"});
  EXPECT_EQ(code_of([&] { return (Tensor{in} + 1).to_vector<float>(); }), ErrorCode::io_error);
}

TEST_F(RunHere, limits_hold) {
  const Tensor x = tensor({1.0, 2.0}).eval();
  CancelSource source;
  source.cancel(Error{"test", ErrorCode::cancelled, "not wanted"});
  const Tensor cancelled = (x + 1).eval({.cancel = source.token()});
  EXPECT_EQ(code_of([&] { return cancelled.to_vector<float>(); }), ErrorCode::cancelled);
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds{1};
  const Tensor late = (x + 2).eval({.deadline = past});
  EXPECT_EQ(code_of([&] { return late.to_vector<float>(); }), ErrorCode::deadline_exceeded);
}

TEST_F(RunHere, a_thread_that_waits_for_what_it_starts_computes_it_itself) {
  const Tensor row = full({1, 200}, 1.0).eval();
  const auto f = jit([this](const Tensor& x) { return long_sum(x); });
  f(row).computed().get();
  const std::uint64_t before = submissions();
  EXPECT_EQ(f(row).to_vector<float>(), std::vector<float>(256, 100));
  EXPECT_EQ(submissions(), before);
}

TEST_F(RunHere, a_token_that_nobody_has_used_changes_nothing) {
  const Tensor row = full({1, 200}, 1.0).eval();
  const auto f = jit([this](const Tensor& x) { return long_sum(x); });
  f(row).computed().get();
  const std::uint64_t before = submissions();
  const CancelSource source;
  const CommandOptions options{.cancel = source.token()};
  EXPECT_EQ(f.with(options)(row).to_vector<float>(options), std::vector<float>(256, 100));
  EXPECT_EQ(submissions(), before);
}

TEST_F(RunHere, a_thread_that_does_not_wait_hands_it_over) {
  const Tensor row = full({1, 200}, 1.0).eval();
  const auto f = jit([this](const Tensor& x) { return long_sum(x); });
  f(row).computed().get();
  const std::uint64_t before = submissions();
  std::vector<Tensor> sums;
  for (int i = 0; i < 4; ++i) sums.push_back(f(row));
  for (const Tensor& sum : sums) EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(256, 100));
  EXPECT_EQ(submissions(), before + 3) << "all but the first, before which it had waited";
}

TEST_F(RunHere, results_of_threads_that_run_the_same_program_are_their_own) {
  constexpr int runs = 200;
  const auto f = jit([this](const Tensor& x) { return long_sum(x); });
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        const DeviceScope here{device};
        const Tensor row = full({1, 200}, static_cast<double>(i)).eval();
        const std::vector<float> expected(256, static_cast<float>(100 * i));
        for (int run = 0; run < runs; ++run)
          if (f(row).to_vector<float>() != expected) ++wrong;
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(RunHere, what_another_thread_writes_meanwhile_is_there_wholly_or_not_at_all) {
  constexpr int runs = 500;
  constexpr std::size_t n = 512;
  const Buffer in = device.buffer(std::vector<float>(n, 0));
  std::atomic<bool> over{false};
  std::jthread writer{[&] {
    for (int i = 0; !over; ++i) in.write(std::vector<float>(n, static_cast<float>(i % 100))).wait();
  }};
  const auto f = jit([](const Tensor& x) { return x * 2; });
  int torn = 0;
  for (int run = 0; run < runs; ++run) {
    const auto twice = f(Tensor{in}).to_vector<float>();
    torn += std::ranges::count(twice, twice[0]) != static_cast<std::ptrdiff_t>(n);
  }
  over = true;
  EXPECT_EQ(torn, 0);
}

TEST_F(RunHere, a_buffer_that_is_released_meanwhile_fails_later_runs_only) {
  const Buffer in = device.buffer({1.0F, 2.0F});
  const Tensor x{in};
  const Tensor y = (x + 1).eval();
  in.release();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(code_of([&] { return (x + 2).to_vector<float>(); }), ErrorCode::released);
}

}  // namespace
}  // namespace stoker
