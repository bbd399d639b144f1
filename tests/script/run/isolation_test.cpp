// Scripts beside each other, cancelled, timed out, and left behind by their host.
#include <atomic>
#include <latch>
#include <thread>

#include "stoker/api/kernel.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class Isolation : public Scripts {};

TEST_F(Isolation, scripts_run_side_by_side) {
  std::vector<ScriptRun> runs;
  std::vector<std::shared_ptr<Recorder>> seen;
  for (int i = 0; i < 32; ++i) {
    ScriptOptions options;
    options.args = {{"n", std::to_string(i)}};
    options.observer = seen.emplace_back(std::make_shared<Recorder>());
    runs.push_back(host.start({"s" + std::to_string(i),
                               "local b = buffer{args.n}\n"
                               "for i = 1, 20 do b = b + 1 if i % 5 == 0 then wait(b) end end\n"
                               "print(read(b)[1])"},
                              options));
  }
  for (int i = 0; i < 32; ++i) {
    EXPECT_TRUE(runs[static_cast<std::size_t>(i)].done.wait().has_value());
    EXPECT_EQ(seen[static_cast<std::size_t>(i)]->text, std::to_string(i + 20) + ".0\n");
  }
}

TEST_F(Isolation, one_that_runs_wild_is_stopped_and_hurts_nobody) {
  std::vector<ScriptRun> wild;
  for (const char* code :
       {"while true do end", "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
        "local t = {} while true do t[#t + 1] = fill{shape = {1024}} wait(t[#t]) end"})
    wild.push_back(host.start({"wild", code}, limited(3'000'000, 16)));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run("print(read(buffer{1} + 1)[1])").text(), "2.0\n");
  for (const ScriptRun& one : wild) {
    const auto& result = one.done.wait();
    ASSERT_TRUE(result.has_error());
    EXPECT_EQ(result.error().code(), ErrorCode::budget_exceeded);
  }
}

TEST_F(Isolation, a_script_that_computes_can_be_cancelled) {
  ScriptOptions options;
  options.limits = {0, 0, 0};
  const ScriptRun run =
      host.start({"loop", "while true do pcall(function() while true do end end) end"}, options);
  run.cancel();
  const auto& result = run.done.wait();
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code(), ErrorCode::cancelled);
}

TEST_F(Isolation, a_time_limit_ends_a_script) {
  ScriptOptions options;
  options.limits = {0, 0, 0};
  options.time_limit = std::chrono::milliseconds{20};
  const Error error = run("while true do end", options).error();
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(error.reason(), "the script ran longer than its time limit");
  EXPECT_EQ(error.detail("limit"), "0.02 s");
}

TEST_F(Isolation, a_time_limit_of_nothing_is_refused) {
  for (const int seconds : {0, -1}) {
    ScriptOptions options;
    options.time_limit = std::chrono::seconds{seconds};
    const Error error = error_of([&] { return host.start({"never", "print(1)"}, options); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.detail("limit"), std::to_string(seconds) + " s");
  }
}

TEST_F(Isolation, comparing_large_texts_is_charged_by_its_time) {
  // One instruction, and a millisecond each time.
  EXPECT_EQ(
      run("local s = ('a'):rep(20000000) local a, b = s .. 'b', s .. 'b'\nwhile a == b do end",
          limited(50'000'000))
          .code(),
      ErrorCode::budget_exceeded);
}

TEST_F(Isolation, a_long_script_gives_way_to_other_work_of_its_executor) {
  ManualExecutor loop{system.clock()};
  ScriptHost scripts{device.client(), loop, system.kernels()};
  ScriptOptions options;
  options.limits = {0, 0, 0};
  for (const char* code : {"while true do end", "('a'):rep(100000):find(('a*'):rep(30) .. 'b')",
                           "table.move({}, 1, 1 << 60, 2)"}) {
    const ScriptRun run = scripts.start({"long", code}, options);
    bool had_a_turn = false;
    loop.post([&] { had_a_turn = true; });
    while (!had_a_turn) ASSERT_TRUE(loop.run_one());
    EXPECT_FALSE(run.done.ready());
    run.cancel();
    while (!run.done.ready()) ASSERT_TRUE(loop.run_one());
    EXPECT_EQ(run.done.poll()->error().code(), ErrorCode::cancelled);
  }
}

/// A kernel that runs until the test lets it go.
class BlockedKernel : public Scripts {
 protected:
  void SetUp() override {
    CppKernelSpec spec;
    spec.name = "blocked";
    spec.run = [this](const CppCall& call, std::size_t begin, std::size_t end) {
      const auto x = call.in<float>(0);
      const auto y = call.out<float>(0);
      for (std::size_t i = begin; i < end; ++i) y[i] = x[i];
      if (!started.exchange(true)) running.count_down();
      let_go.wait();
    };
    system.add_kernel(spec);
    scripts.emplace(device.client(), system.executor(), system.kernels());
  }

  void TearDown() override {
    scripts.reset();
    EXPECT_TRUE(system.stop());  // the kernel uses the latches
  }

  std::atomic<bool> started{false};
  std::latch running{1};
  std::latch let_go{1};
  std::optional<ScriptHost> scripts;
};

TEST_F(BlockedKernel, a_script_that_waits_can_be_cancelled_while_the_device_is_busy) {
  const ScriptRun run = scripts->start({"wait", "wait(kernels.blocked(buffer{1}))"}, {});
  running.wait();
  run.cancel();
  const auto& result = run.done.wait();
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code(), ErrorCode::cancelled);
  let_go.count_down();
}

TEST_F(BlockedKernel, other_scripts_go_on_while_one_is_parked) {
  // More parked scripts than the executor has threads.
  std::vector<ScriptRun> parked;
  for (int i = 0; i < 64; ++i)
    parked.push_back(scripts->start({"wait", "print(read(blocked(buffer{1}))[1])"}, {}));
  running.wait();
  EXPECT_EQ(scripts->start({"free", "local n = 0 for i = 1, 1000 do n = n + i end"}, {})
                .done.wait()
                .has_value(),
            true);
  let_go.count_down();
  for (const ScriptRun& one : parked) EXPECT_TRUE(one.done.wait().has_value());
}

TEST_F(BlockedKernel, a_script_that_waits_for_nothing_does_not_outrun_the_device) {
  // Chains longer than a graph may be run up to there without being asked for; these take 8 MiB each.
  const std::string code =
      "for i = 1, 60 do\n"
      "  local b = buffer{i}\n"
      "  for j = 1, 254 do b = b + 1 end\n"
      "  if i == 1 then b = blocked(b) else b = -b end\n"
      "  local beyond = (fill{shape = {1 << 20}} + b) + 1\n"
      "end";
  ManualExecutor loop{system.clock()};
  ScriptHost host{device.client(), loop, system.kernels()};
  const ScriptRun run = host.start({"hasty", code}, {});
  loop.run_all();
  EXPECT_FALSE(run.done.ready());  // it is parked until the device has come on
  EXPECT_LT(device.stats().memory.in_use, std::uint64_t{100} << 20);
  let_go.count_down();
  while (!run.done.ready())
    if (!loop.run_one()) std::this_thread::yield();
  EXPECT_EQ(run.done.wait().value().evaluations, 60U);
  EXPECT_LT(device.stats().memory.peak, std::uint64_t{100} << 20);
}

TEST_F(BlockedKernel, closing_the_host_cancels_what_still_runs) {
  const ScriptRun run = scripts->start({"wait", "wait(blocked(buffer{1}))"}, {});
  running.wait();
  scripts.reset();
  const auto& result = run.done.wait();
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code(), ErrorCode::cancelled);
  let_go.count_down();
}

}  // namespace
}  // namespace stoker
