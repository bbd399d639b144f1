#include "stoker/runtime/fork_guard.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "stoker/runtime/clock.hpp"
#include "stoker/runtime/thread_pool.hpp"

namespace stoker {
namespace {

class ForkGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer cannot follow a fork of a process with threads";
#endif
  }
};

/// Runs `check` in a forked child and returns whether it returned true.
template <class Check> bool true_in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(ForkGuardTest, refuses_in_a_child_and_not_in_the_process_it_was_made_in) {
  const ForkGuard guard;
  EXPECT_TRUE(guard.check("submit").has_value());
  EXPECT_TRUE(true_in_child([&] {
    const Result<void> result = guard.check("submit");
    return result.has_error() && result.error().code() == ErrorCode::forked_process &&
           result.error().op() == "submit" && ForkGuard{}.check("submit").has_value();
  }));
  EXPECT_TRUE(guard.check("submit").has_value());
}

TEST_F(ForkGuardTest, clocks_and_pools_of_the_parent_do_not_hang_the_child) {
  auto clock = std::make_unique<SystemClock>();
  auto pool = std::make_unique<ThreadPool>(*clock, ThreadPoolOptions{.threads = 2});
  EXPECT_TRUE(true_in_child([&] {
    alarm(10);  // kills a child that hangs
    pool.reset();
    clock.reset();
    return true;
  }));
}

}  // namespace
}  // namespace stoker
