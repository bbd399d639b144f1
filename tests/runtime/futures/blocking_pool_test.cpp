#include "stoker/runtime/futures/blocking_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace stoker {
namespace {

using namespace std::chrono_literals;

/// Keeps whoever enters until the test lets go.
class Gate {
 public:
  void pass() {
    entered_.fetch_add(1);
    entered_.notify_all();
    open_.wait(false);
  }
  void wait_entered(int count) {
    for (int now = entered_.load(); now < count; now = entered_.load()) entered_.wait(now);
  }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> open_{false};
  std::atomic<int> entered_{0};
};

template <class F> ErrorCode thrown_by(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(BlockingPool, gives_values_results_and_errors) {
  BlockingPool pool;
  EXPECT_EQ(pool.run([] { return 7; }).get(), 7);
  EXPECT_EQ(pool.run([] { return std::make_unique<int>(3); }).wait().value() == nullptr, false);
  EXPECT_TRUE(pool.run([] {}).wait().has_value());
  const Future<int> refused = pool.run([]() -> Result<int> {
    return Error{"mine", ErrorCode::not_found, "gone"};
  });
  EXPECT_EQ(refused.wait().error().code(), ErrorCode::not_found);
  const Future<int> thrown = pool.run([]() -> int { throw std::runtime_error{"bad day"}; });
  EXPECT_EQ(thrown.wait().error().code(), ErrorCode::handler_failed);
  EXPECT_NE(thrown.wait().error().reason().find("bad day"), std::string::npos);
}

TEST(BlockingPool, runs_elsewhere_on_as_many_threads_as_it_says) {
  BlockingPool pool{{.threads = 3, .queue = 8}};
  EXPECT_EQ(pool.limits().threads, 3U);
  EXPECT_EQ(pool.limits().queue, 8U);
  EXPECT_FALSE(pool.in_pool());
  Gate gate;
  std::vector<Future<bool>> inside;
  for (int i = 0; i < 3; ++i)
    inside.push_back(pool.run([&] {
      gate.pass();
      return pool.in_pool();
    }));
  gate.wait_entered(3);  // all three at once
  gate.open();
  for (const Future<bool>& one : inside) EXPECT_TRUE(one.get());
  EXPECT_GE(BlockingPool{}.limits().threads, 2U);
}

TEST(BlockingPool, refuses_what_it_has_no_room_for_and_takes_more_later) {
  BlockingPool pool{{.threads = 1, .queue = 2}};
  Gate gate;
  std::vector<Future<void>> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(pool.run([&] { gate.pass(); }));
  EXPECT_EQ(pool.jobs(), 3U);
  try {
    static_cast<void>(pool.run([] {}));
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::overloaded);
    EXPECT_TRUE(error.retryable());
    EXPECT_EQ(error.detail("queue"), "2");
  }
  gate.open();
  for (const Future<void>& one : taken) one.get();
  // Whoever hears that a job is done finds its place free.
  for (int i = 0; i < 100; ++i) {
    std::vector<Future<void>> again;
    for (int k = 0; k < 3; ++k) again.push_back(pool.run([] {}));
    for (const Future<void>& one : again) one.get();
  }
}

TEST(BlockingPool, a_dropped_future_does_not_cancel) {
  BlockingPool pool{{.threads = 1}};
  Gate gate;
  std::atomic<int> ran{0};
  static_cast<void>(pool.run([&] {
    gate.pass();
    ++ran;
  }));
  static_cast<void>(pool.run([&] { ++ran; }));
  const Future<void> last = pool.run([&] { ++ran; });
  gate.open();
  last.get();
  EXPECT_EQ(ran, 3);
}

TEST(BlockingPool, cancelling_ends_the_wait_and_what_has_not_begun) {
  BlockingPool pool{{.threads = 1}};
  Gate gate;
  std::atomic<int> ran{0};
  const Future<void> running = pool.run([&] {
    gate.pass();
    ++ran;
  });
  const Future<void> waiting = pool.run([&] { ++ran; });
  gate.wait_entered(1);
  waiting.cancel();
  running.cancel();
  EXPECT_EQ(waiting.wait().error().code(), ErrorCode::cancelled);
  EXPECT_EQ(running.wait().error().code(), ErrorCode::cancelled);
  gate.open();
  pool.run([] {}).get();
  EXPECT_EQ(ran, 1);
}

TEST(BlockingPool, lets_go_of_what_a_job_captured_before_its_future_is_ready) {
  BlockingPool pool;
  auto kept = std::make_shared<int>(5);
  const Future<int> done = pool.run([kept] { return *kept; });
  EXPECT_EQ(done.get(), 5);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(BlockingPool, may_have_a_queue_without_an_end) {
  BlockingPool pool{{.threads = 2, .queue = std::numeric_limits<std::size_t>::max()}};
  std::vector<Future<int>> taken;
  for (int i = 0; i < 10; ++i) taken.push_back(pool.run([i] { return i; }));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)].get(), i);
}

TEST(BlockingPool, continues_a_future_and_takes_the_place_at_once) {
  BlockingPool pool{{.threads = 1, .queue = 1}};
  Promise<int> input;
  const Future<int> doubled =
      pool.run_after(input.future(), [](const Result<int>& value) { return 2 * value.value(); });
  const Future<int> other = pool.run_after(
      input.future(), [&](const Result<int>& value) { return pool.in_pool() ? *value : 0; });
  EXPECT_EQ(thrown_by([&] { static_cast<void>(pool.run([] {})); }), ErrorCode::overloaded);
  EXPECT_EQ(pool.jobs(), 2U);
  input.set(21);
  EXPECT_EQ(doubled.get(), 42);
  EXPECT_EQ(other.get(), 21);

  Promise<int> failing;
  const Future<int> failed =
      pool.run_after(failing.future(), [](const Result<int>& value) { return value.value(); });
  failing.set(Error{"input", ErrorCode::io_error, "torn"});
  EXPECT_EQ(failed.wait().error().code(), ErrorCode::io_error);
}

TEST(BlockingPool, closing_fails_what_waits_and_lets_finish_what_runs) {
  BlockingPool pool{{.threads = 1}};
  Gate gate;
  Promise<int> input;
  const Future<int> running = pool.run([&] {
    gate.pass();
    return 1;
  });
  const Future<void> waiting = pool.run([] {});
  const Future<int> later =
      pool.run_after(input.future(), [](const Result<int>& value) { return value.value(); });
  gate.wait_entered(1);
  const Future<void> ended = pool.close();
  EXPECT_FALSE(ended.ready());
  EXPECT_EQ(waiting.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(pool.run([] {})); }), ErrorCode::closed);
  gate.open();
  ended.get();
  EXPECT_EQ(running.get(), 1);
  input.set(1);
  EXPECT_EQ(later.wait().error().code(), ErrorCode::closed);
  pool.leave(BlockingPool::Tell::yes);
}

TEST(BlockingPool, leaves_behind_what_does_not_end) {
  const auto gate = std::make_shared<Gate>();
  Promise<void> gone;
  const Future<void> over = gone.future();
  Future<void> running;
  {
    BlockingPool pool{{.threads = 1}};
    running = pool.run([gate, gone = std::make_shared<Promise<void>>(std::move(gone))] {
      gate->pass();
      gone->set();
    });
    gate->wait_entered(1);
    static_cast<void>(pool.close());
    pool.leave(BlockingPool::Tell::yes);
    EXPECT_EQ(running.wait().error().code(), ErrorCode::closed);
  }
  gate->open();  // it goes on after the pool
  over.get();
}

TEST(BlockingPool, may_end_in_one_of_its_jobs) {
  auto pool = std::make_shared<BlockingPool>(BlockingOptions{.threads = 1});
  Gate gate;
  const Future<int> last = pool->run([&gate, pool]() mutable {
    gate.pass();
    pool.reset();
    return 4;
  });
  pool.reset();
  gate.open();
  EXPECT_EQ(last.get(), 4);
}

}  // namespace
}  // namespace stoker
