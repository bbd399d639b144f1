#include "stoker/runtime/base/fork_guard.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "stoker/runtime/asio/asio_clock.hpp"
#include "stoker/runtime/asio/asio_executor.hpp"
#include "stoker/runtime/base/process_mutex.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/runtime/futures/when.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"
#include "stoker/tests/runtime/base/fork_fixture.hpp"

namespace stoker {
namespace {

using ForkGuardTest = ForkFixture;

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

TEST_F(ForkGuardTest, a_child_finds_the_mutexes_of_the_process_free) {
  static ProcessMutex mutex;
  std::jthread holder{[](const std::stop_token& stop) {
    while (!stop.stop_requested()) const std::scoped_lock lock{mutex};
  }};
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(true_in_child([&] {
      alarm(10);
      const std::scoped_lock lock{mutex};
      return true;
    }));
}

TEST_F(ForkGuardTest, fork_waits_for_mutexes_of_the_process_that_are_held_at_once) {
  EXPECT_TRUE(true_in_child([] {
    alarm(60);  // a fork that hangs
    static ProcessMutex older;
    static ProcessMutex newer;
    const std::jthread holder{[](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const std::scoped_lock outer{older};
        const std::scoped_lock inner{newer};
      }
    }};
    bool free = true;
    for (int i = 0; i < 100; ++i)
      free = free && true_in_child([] {
               alarm(10);
               const std::scoped_lock outer{older};
               const std::scoped_lock inner{newer};
               return true;
             });
    return free;
  }));
}

TEST_F(ForkGuardTest, a_child_may_log_while_the_parent_does) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  const LogCapture capture{LogLevel::warn};
  std::jthread writer{[](const std::stop_token& stop) {
    while (!stop.stop_requested()) log_warn("the parent has something to say");
  }};
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(true_in_child([&] {
      alarm(10);
      log_warn("so has the child");
      return capture.contains("so has the child");
    }));
}

TEST_F(ForkGuardTest, timers_of_the_parent_go_in_the_child_while_others_are_set) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  boost::asio::io_context loop;
  SystemClock system_clock;
  AsioClock asio_clock{loop.get_executor()};
  for (Clock* const clock :
       {static_cast<Clock*>(&system_clock), static_cast<Clock*>(&asio_clock)}) {
    ManualExecutor executor{*clock};
    const auto later = clock->now() + std::chrono::hours{1};
    std::optional<Timer> timer{std::in_place, *clock, later, executor, [] {}};
    std::jthread setter{[&](const std::stop_token& stop) {
      while (!stop.stop_requested()) const Timer busy{*clock, later, executor, [] {}};
    }};
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(true_in_child([&] {
        alarm(10);
        timer.reset();
        return true;
      }));
  }
}

TEST_F(ForkGuardTest, futures_of_the_parent_have_failed_in_the_child) {
  ManualClock clock;
  ManualExecutor executor{clock};
  const Promise<int> pending;
  Promise<int> kept;
  kept.set(7);
  const auto failed = [](const Future<int>& future) {
    return future.ready() && future.wait().has_error() &&
           future.wait().error().code() == ErrorCode::forked_process;
  };
  EXPECT_TRUE(true_in_child([&] {
    alarm(10);
    const Future<int> all =
        when_all(std::vector{pending.future(), kept.future()})
            .then(executor, [](const Result<std::vector<int>>& both) -> Result<int> {
              return both.has_error() ? both.error() : Error{};
            });
    const Future<std::size_t> first = when_any(pending.future());
    executor.run_all();
    return failed(pending.future()) && failed(all) && first.ready() &&
           kept.future().wait().value() == 7;
  }));
  EXPECT_FALSE(pending.future().ready());
}

TEST_F(ForkGuardTest, timelines_of_the_parent_have_failed_in_the_child) {
  Timeline timeline;
  timeline.advance(1);
  EXPECT_TRUE(true_in_child([&] {
    alarm(10);
    timeline.advance(5);
    const Result<void> later = timeline.reached(2).wait();
    return timeline.reached(1).wait().has_value() && !timeline.wait(2) && later.has_error() &&
           later.error().code() == ErrorCode::forked_process;
  }));
}

TEST_F(ForkGuardTest, what_is_given_to_executors_of_the_parent_is_dropped_in_the_child) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  SystemClock clock;
  ThreadPool pool{clock, ThreadPoolOptions{.threads = 2}};
  boost::asio::io_context loop;
  AsioExecutor on_loop{loop.get_executor(), clock};
  for (Executor* const executor :
       {static_cast<Executor*>(&pool), static_cast<Executor*>(&on_loop)}) {
    std::jthread busy{[&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const Future<void> ended = Process::spawn(*executor, [] {});
        loop.restart();
        loop.poll();
        ended.wait();
      }
    }};
    const auto is_dropped = [](const Result<void>& answer) {
      return answer.has_error() && answer.error().code() == ErrorCode::closed;
    };
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(true_in_child([&] {
        alarm(10);
        return is_dropped(make_ready_future().then(*executor, [](const Result<void>&) {}).wait()) &&
               is_dropped(Process::spawn(*executor, [] {}).wait());
      }));
  }
}

}  // namespace
}  // namespace stoker
