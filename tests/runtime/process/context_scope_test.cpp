// Scopes of processes and plain threads.
#include "stoker/runtime/process/context_scope.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

constexpr char numbers = 0;
constexpr char others = 0;

class Number : private ContextScope {
 public:
  explicit Number(int value) : ContextScope{&numbers}, value_{value} {}
  /// The innermost first.
  static std::vector<int> all() {
    std::vector<int> found;
    for (const ContextScope* at = innermost(&numbers); at;) {
      const auto& number = static_cast<const Number&>(*at);
      found.push_back(number.value_);
      at = number.outer();
    }
    return found;
  }

 private:
  int value_;
};

class Other : private ContextScope {
 public:
  Other() : ContextScope{&others} {}
  static bool here() { return innermost(&others) != nullptr; }
};

class ContextScopes : public testing::Test {
 protected:
  ManualClock clock;
  ManualExecutor executor{clock};
};

TEST_F(ContextScopes, nest_and_end_in_reverse) {
  EXPECT_TRUE(Number::all().empty());
  {
    const Number outer{1};
    {
      const Number inner{2};
      EXPECT_EQ(Number::all(), (std::vector{2, 1}));
    }
    EXPECT_EQ(Number::all(), std::vector{1});
  }
  EXPECT_TRUE(Number::all().empty());
}

TEST_F(ContextScopes, of_one_kind_do_not_hide_those_of_another) {
  const Number number{1};
  EXPECT_FALSE(Other::here());
  const Other other;
  EXPECT_TRUE(Other::here());
  EXPECT_EQ(Number::all(), std::vector{1});
}

TEST_F(ContextScopes, of_a_process_go_with_it_to_the_thread_it_wakes_on) {
  Promise<void> go_on;
  std::vector<int> before;
  std::vector<int> after;
  const auto done = Process::spawn(executor, [&] {
    const Number number{1};
    before = Number::all();
    go_on.future().wait();
    after = Number::all();
  });
  executor.run_all();
  EXPECT_EQ(before, std::vector{1});
  go_on.set();
  std::thread{[&] { executor.run_all(); }}.join();
  EXPECT_TRUE(done.ready());
  EXPECT_EQ(after, std::vector{1});
}

TEST_F(ContextScopes, of_a_process_that_waits_are_nobody_elses) {
  Promise<void> go_on;
  std::vector<std::vector<int>> seen;
  const auto waiting = Process::spawn(executor, [&] {
    const Number number{1};
    go_on.future().wait();
  });
  const auto other = Process::spawn(executor, [&] {
    seen.push_back(Number::all());
    const Number number{2};
    go_on.future().wait();
    seen.push_back(Number::all());
  });
  executor.run_all();
  EXPECT_TRUE(Number::all().empty()) << "the thread is in none";
  go_on.set();
  executor.run_all();
  EXPECT_EQ(seen, (std::vector<std::vector<int>>{{}, {2}}));
}

TEST_F(ContextScopes, of_a_thread_do_not_reach_into_processes_that_it_runs) {
  const Number number{1};
  std::vector<int> seen{0};
  const auto done = Process::spawn(executor, [&] { seen = Number::all(); });
  executor.run_all();
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(Number::all(), std::vector{1});
}

}  // namespace
}  // namespace stoker
