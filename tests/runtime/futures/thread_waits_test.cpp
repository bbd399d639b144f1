// What counts as a wait of a thread: only what would have blocked it.
#include "stoker/runtime/futures/thread_waits.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/futures/future_await.hpp"

namespace stoker {
namespace {

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached await_on(Future<int> future, Executor& executor, int& seen) {
  seen = co_await future.on(executor);
}

class ThreadWaits : public testing::Test {
 protected:
  ThreadWaits() { static_cast<void>(this_thread_has_waited()); }
  ManualClock clock;
  ManualExecutor executor{clock};
};

TEST_F(ThreadWaits, are_told_once) {
  EXPECT_FALSE(this_thread_has_waited());
  make_ready_future<int>(1).wait();
  EXPECT_TRUE(this_thread_has_waited());
  EXPECT_FALSE(this_thread_has_waited());
}

TEST_F(ThreadWaits, are_no_looks_at_what_is_there) {
  const Future<int> future = make_ready_future<int>(1);
  EXPECT_TRUE(future.ready());
  EXPECT_NE(future.poll(), nullptr);
  EXPECT_FALSE(this_thread_has_waited());
}

TEST_F(ThreadWaits, are_no_coroutines_that_are_resumed) {
  Promise<int> promise;
  int seen = 0;
  await_on(promise.future(), executor, seen);
  promise.set(12);
  executor.run_all();
  EXPECT_EQ(seen, 12);
  EXPECT_FALSE(this_thread_has_waited());
}

TEST_F(ThreadWaits, are_no_continuations) {
  int seen = 0;
  static_cast<void>(make_ready_future<int>(5).then(
      executor, [&](const Result<int>& value) { seen = value.value(); }));
  executor.run_all();
  EXPECT_EQ(seen, 5);
  EXPECT_FALSE(this_thread_has_waited());
}

}  // namespace
}  // namespace stoker
