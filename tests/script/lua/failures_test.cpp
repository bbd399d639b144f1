// Kernels that fail on the device: who hears of it, and when a failure is over.
#include "stoker/pipeline/script/lua/failures.hpp"

#include <latch>
#include <thread>

#include "stoker/api/kernel.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

/// `failing` fails at once, `failing_late` when the test lets it go. Each failure says who it is.
class FailingKernel : public Scripts {
 protected:
  void SetUp() override {
    add_kernel("failing", [] {});
    add_kernel("failing_late", [this] { let_go.wait(); });
    scripts.emplace(device.client(), system.executor(), system.kernels());
  }

  void TearDown() override {
    scripts.reset();
    EXPECT_TRUE(system.stop());  // the kernels use the latch
  }

  Result<ScriptReport> run(std::string code) {
    return scripts->start({"test.lua", std::move(code)}, {}).done.wait();
  }

  /// The same on an executor that the test runs; `parked` is called when the script waits.
  template <class F> Result<ScriptReport> run_by_hand(std::string code, F parked) {
    ManualExecutor loop{system.clock()};
    ScriptHost host{device.client(), loop, system.kernels()};
    const ScriptRun run = host.start({"test.lua", std::move(code)}, {});
    loop.run_all();
    parked();
    while (!run.done.ready())
      if (!loop.run_one()) std::this_thread::yield();
    return run.done.wait();
  }

  std::latch let_go{1};
  std::optional<ScriptHost> scripts;

 private:
  void add_kernel(const std::string& name, std::function<void()> before) {
    CppKernelSpec spec;
    spec.name = name;
    spec.run = [before](const CppCall& call, std::size_t, std::size_t) {
      before();
      throw std::runtime_error{"failure " + std::to_string(static_cast<int>(call.in<float>(0)[0]))};
    };
    system.add_kernel(std::move(spec));
  }
};

/// A value `bad` that runs, and fails, without being asked for: the calls above it make the chain
/// longer than a graph may be.
constexpr const char* bad_value =
    "local bad = buffer{1}\n"
    "for i = 1, 255 do bad = bad + 0 end\n"
    "bad = failing(bad)\n"
    "local beyond = bad + 1\n";

TEST_F(FailingKernel, the_failure_reaches_whoever_reads) {
  const auto result = run("local b = failing(buffer{1}) + 1\n\nread(b)");
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code(), ErrorCode::handler_failed);
  EXPECT_EQ(result.error().detail("line"), "3");
}

TEST_F(FailingKernel, waiting_for_what_is_the_same_value_hears_of_its_failure) {
  const auto result = run(std::string{bad_value} +
                          "local same = bad:reshape{shape = {1, 1}}:reshape{shape = {1}}\n"
                          "assert(not pcall(wait, same))");
  EXPECT_TRUE(result.has_value()) << result.error().what();
}

TEST_F(FailingKernel, a_failure_nobody_looked_at_fails_the_script) {
  const auto result = run(bad_value);
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().code(), ErrorCode::handler_failed);
}

TEST_F(FailingKernel, a_failure_that_was_caught_is_over) {
  // Whether the command failed before the script waits for it …
  const std::string ran_before = std::string{bad_value} + "wait(relu(buffer{2}))\n";
  EXPECT_TRUE(run(ran_before + "assert(not pcall(read, bad))").has_value());
  EXPECT_TRUE(run(ran_before + "assert(not pcall(wait, bad))").has_value());
  // … or while it does.
  EXPECT_TRUE(run_by_hand("assert(not pcall(read, failing_late(buffer{1})))", [this] {
                let_go.count_down();
              }).has_value());
}

TEST_F(FailingKernel, a_failure_that_was_caught_further_down_is_over) {
  EXPECT_TRUE(run(std::string{bad_value} + "assert(not pcall(read, beyond))").has_value());
  // Also for what depended on it and was under way, or comes later.
  EXPECT_TRUE(run(std::string{bad_value} + "for i = 1, 300 do beyond = beyond + 1 end\n"
                                           "assert(not pcall(read, bad))\n"
                                           "for i = 1, 300 do beyond = beyond + 1 end")
                  .has_value());
}

TEST_F(FailingKernel, waiting_for_everything_tells_of_every_failure_once) {
  EXPECT_TRUE(run(std::string{bad_value} + "local ok, e = pcall(wait)\n"
                                           "assert(not ok and e.code == 'handler_failed')\n"
                                           "wait()")
                  .has_value());
}

TEST_F(FailingKernel, one_failure_that_was_caught_does_not_hide_another) {
  const auto result = run(std::string{bad_value} + "assert(not pcall(read, failing(buffer{2})))");
  ASSERT_TRUE(result.has_error());
  EXPECT_NE(result.error().reason().find("failure 1"), std::string_view::npos)
      << result.error().what();
}

Error failure(int number) {
  return {"test", ErrorCode::handler_failed, "failure " + std::to_string(number)};
}

TEST(Failures, copies_of_an_error_are_one_failure) {
  script::Failures failures;
  const Error one = failure(1);
  failures.add(one);
  failures.add(Error{one});
  failures.tell(Error{one});
  EXPECT_EQ(failures.take_untold(), std::nullopt);
  failures.add(failure(1));  // equal, but not the same
  EXPECT_NE(failures.take_untold(), std::nullopt);
  EXPECT_EQ(failures.take_untold(), std::nullopt);
}

TEST(Failures, may_be_told_before_they_are_added) {
  script::Failures failures;
  const Error one = failure(1);
  failures.tell(one);
  failures.add(one);
  EXPECT_EQ(failures.take_untold(), std::nullopt);
}

TEST(Failures, beyond_the_bound_the_oldest_stays_untold) {
  script::Failures failures;
  std::vector<Error> all;
  for (int i = 0; i <= static_cast<int>(script::Failures::most); ++i)
    failures.add(all.emplace_back(failure(i)));
  for (const Error& each : all) failures.tell(each);
  const auto left = failures.take_untold();
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->reason(), "failure 0");
}

TEST(Failures, beyond_the_bound_what_was_told_is_forgotten) {
  script::Failures failures;
  for (int i = 0; i < 1000; ++i) failures.tell(failure(i));
  EXPECT_EQ(failures.take_untold(), std::nullopt);
}

}  // namespace
}  // namespace stoker
