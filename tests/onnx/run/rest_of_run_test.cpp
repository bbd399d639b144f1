// Who does the rest of a run: a process, or the thread that waits.
#include "stoker/api/onnx/run/rest_of_run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "stoker/runtime/execution/manual_executor.hpp"

namespace stoker::onnx {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

class RestsOfRuns : public testing::Test {
 protected:
  /// One output, whose name tells what made it.
  static NamedValues made_by(const char* name) { return {{name, Value{}}}; }
  [[nodiscard]] Future<NamedValues> start(bool needs_trace = false) {
    return RestOfRun::start(*executor_, stack_bytes,
                            {.followed = [this, needs_trace]() -> std::optional<NamedValues> {
                               followed_.fetch_add(1);
                               if (needs_trace) return {};
                               return made_by("followed");
                             },
                             .whole =
                                 [this] {
                                   whole_.fetch_add(1);
                                   return made_by("whole");
                                 }});
  }
  void expect_calls(int followed, int whole) const {
    EXPECT_EQ(followed_, followed);
    EXPECT_EQ(whole_, whole);
  }

  ManualClock clock_;
  std::optional<ManualExecutor> executor_{clock_};
  std::atomic<int> followed_{0};
  std::atomic<int> whole_{0};
};

TEST_F(RestsOfRuns, are_done_by_the_thread_that_waits) {
  const Future<NamedValues> outputs = start();
  EXPECT_EQ(outputs.get().count("followed"), 1U);
  executor_->run_all();
  expect_calls(1, 0);
}

TEST_F(RestsOfRuns, leave_their_outputs_to_those_who_waited) {
  const Future<NamedValues> outputs = start();
  EXPECT_TRUE(outputs.wait().has_value());
  EXPECT_TRUE(outputs.state()->unique()) << "not to a process that has not had its turn yet";
  executor_->run_all();
  expect_calls(1, 0);
}

TEST_F(RestsOfRuns, are_done_by_a_process_where_nobody_waits) {
  const Future<NamedValues> outputs = start();
  executor_->run_all();
  EXPECT_TRUE(outputs.ready());
  EXPECT_EQ(outputs.get().count("whole"), 1U);
  expect_calls(0, 1);
}

TEST_F(RestsOfRuns, are_not_done_by_a_thread_that_waits_for_a_limited_time) {
  const Future<NamedValues> outputs = start();
  EXPECT_FALSE(outputs.wait_for(std::chrono::seconds{0}));
  expect_calls(0, 0);
  executor_->run_all();
  expect_calls(0, 1);
}

TEST_F(RestsOfRuns, are_traced_in_a_process_also_when_a_thread_has_begun_them) {
  const Future<NamedValues> outputs = start(true);
  std::jthread waits{[&] { EXPECT_EQ(outputs.get().count("whole"), 1U); }};
  while (followed_ == 0) std::this_thread::yield();
  // The process that was there first finds the work taken; that of the trace may come later.
  while (!outputs.ready()) {
    executor_->run_all();
    std::this_thread::yield();
  }
  waits.join();
  expect_calls(1, 1);
}

TEST_F(RestsOfRuns, hand_on_what_was_thrown) {
  const auto refused = [] { throw Error{"onnx.run", ErrorCode::unsupported, "for a test"}; };
  const auto run = [&] {
    return RestOfRun::start(*executor_, stack_bytes,
                            {.followed = [&]() -> std::optional<NamedValues> {
                               refused();
                               return {};
                             },
                             .whole =
                                 [&] {
                                   refused();
                                   return NamedValues{};
                                 }});
  };
  const Future<NamedValues> by_the_waiter = run();
  EXPECT_EQ(by_the_waiter.wait().error().code(), ErrorCode::unsupported);
  const Future<NamedValues> by_a_process = run();
  executor_->run_all();
  EXPECT_EQ(by_a_process.wait().error().code(), ErrorCode::unsupported);
}

TEST_F(RestsOfRuns, fail_when_their_executor_ends) {
  const Future<NamedValues> outputs = start();
  executor_.reset();
  EXPECT_TRUE(outputs.ready());
  EXPECT_EQ(outputs.wait().error().code(), ErrorCode::closed);
}

}  // namespace
}  // namespace stoker::onnx
