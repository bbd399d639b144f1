#include "stoker/runtime/executor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stoker/runtime/asio_clock.hpp"
#include "stoker/runtime/asio_executor.hpp"
#include "stoker/runtime/future.hpp"
#include "stoker/runtime/log.hpp"
#include "stoker/runtime/manual_executor.hpp"
#include "stoker/runtime/thread_pool.hpp"

namespace stoker {
namespace {

class CountingTask final : public Task {
 public:
  void run() noexcept override { ran.fetch_add(1); }
  void drop() noexcept override { dropped.fetch_add(1); }
  std::atomic<int> ran{0};
  std::atomic<int> dropped{0};
};

TEST(ManualExecutor, runs_in_order_and_only_when_told) {
  ManualClock clock;
  ManualExecutor executor{clock};
  std::string order;
  for (const char c : {'a', 'b', 'c'}) executor.post([&order, c] { order.push_back(c); });
  EXPECT_EQ(order, "");
  EXPECT_TRUE(executor.run_one());
  EXPECT_EQ(order, "a");
  EXPECT_EQ(executor.run_all(), 2U);
  EXPECT_EQ(order, "abc");
  EXPECT_FALSE(executor.run_one());
}

TEST(ManualExecutor, the_same_seed_gives_the_same_order) {
  const auto order_of = [](std::uint64_t seed) {
    ManualClock clock;
    ManualExecutor executor{clock, seed};
    std::string order;
    for (char c = 'a'; c <= 'j'; ++c) executor.post([&order, c] { order.push_back(c); });
    executor.run_all();
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) orders.insert(order_of(seed));
  EXPECT_GT(orders.size(), 10U);
}

TEST(ManualExecutor, drops_what_it_never_ran) {
  ManualClock clock;
  CountingTask task;
  {
    ManualExecutor executor{clock};
    executor.post(task);
    executor.post([] {});
  }
  EXPECT_EQ(task.ran, 0);
  EXPECT_EQ(task.dropped, 1);
}

TEST(Executor, an_exception_in_a_posted_function_is_logged_and_goes_no_further) {
  const LogCapture log;
  ManualClock clock;
  ManualExecutor executor{clock};
  executor.post([] { throw std::runtime_error{"spilled"}; });
  executor.run_all();
  EXPECT_TRUE(log.contains("spilled"));
}

TEST(ThreadPool, runs_each_task_exactly_once_on_its_own_threads) {
  SystemClock clock;
  std::vector<CountingTask> tasks(2000);
  std::atomic<int> inside{0};
  {
    ThreadPool pool{clock, {.threads = 3}};
    EXPECT_FALSE(pool.in_executor());
    std::vector<std::jthread> posters;
    for (int p = 0; p < 4; ++p)
      posters.emplace_back([&, p] {
        for (std::size_t i = p; i < tasks.size(); i += 4) pool.post(tasks[i]);
      });
    for (int i = 0; i < 100; ++i) pool.post([&] { inside += pool.in_executor() ? 1 : 0; });
  }
  for (const CountingTask& task : tasks) EXPECT_EQ(task.ran, 1);
  EXPECT_EQ(inside, 100);
}

TEST(ThreadPool, its_destructor_finishes_what_tasks_post) {
  SystemClock clock;
  std::atomic<int> left{200};
  {
    ThreadPool pool{clock, {.threads = 2}};
    struct Chain final : Task {
      ThreadPool* pool = nullptr;
      std::atomic<int>* left = nullptr;
      void run() noexcept override {
        if (left->fetch_sub(1) > 1) pool->post(*this);
      }
    };
    static Chain chain;
    chain.pool = &pool;
    chain.left = &left;
    pool.post(chain);
  }
  EXPECT_EQ(left, 0);
}

TEST(ThreadPool,
     deferred_tasks_run_and_do_not_wait_for_the_deferring_thread_when_there_are_several) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  Promise<void> first;
  Promise<void> done;
  struct Deferred final : Task {
    Promise<void>* promise = nullptr;
    void run() noexcept override { promise->set(); }
  };
  Deferred a;
  Deferred b;
  a.promise = &first;
  b.promise = &done;
  pool.post([&] {
    pool.defer(a);
    pool.defer(b);          // pushes `a` out to the other thread ...
    first.future().wait();  // ... or waiting flushes what this thread has kept
  });
  done.future().wait();
  EXPECT_TRUE(first.future().ready());
}

TEST(ThreadPool, blocking_a_pool_thread_first_hands_over_what_it_deferred) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  Promise<void> kept;
  Promise<void> end;
  struct Deferred final : Task {
    Promise<void>* promise = nullptr;
    void run() noexcept override { promise->set(); }
  };
  Deferred task;
  task.promise = &kept;
  pool.post([&] {
    pool.defer(task);
    kept.future().wait();
    end.set();
  });
  end.future().wait();
}

TEST(ThreadPool, threads_are_named) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 1, .name = "furnace"}};
  Promise<std::string> name;
  pool.post([&] {
    std::ifstream file{"/proc/thread-self/comm"};
    std::string text;
    std::getline(file, text);
    name.set(text);
  });
  EXPECT_EQ(name.future().get(), "furnace/0");
}

TEST(ThreadPool, an_exception_from_a_foreign_handler_ends_nothing) {
  const LogCapture log;
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 1}};
  Promise<void> after;
  boost::asio::post(pool.context(), [] { throw std::runtime_error{"foreign"}; });
  pool.post([&] { after.set(); });
  after.future().wait();
  EXPECT_TRUE(log.contains("foreign"));
}

TEST(AsioExecutor, runs_on_the_hosts_loop_and_nowhere_else) {
  boost::asio::io_context context;
  AsioClock clock{context.get_executor()};
  AsioExecutor executor{context.get_executor(), clock};
  CountingTask task;
  bool inside = false;
  executor.post(task);
  executor.post([&] { inside = executor.in_executor(); });
  EXPECT_EQ(task.ran, 0);
  EXPECT_FALSE(executor.in_executor());
  context.run();
  EXPECT_EQ(task.ran, 1);
  EXPECT_TRUE(inside);
}

TEST(AsioExecutor, drops_tasks_of_a_loop_that_is_destroyed) {
  CountingTask task;
  SystemClock clock;
  std::optional<boost::asio::io_context> context{std::in_place};
  AsioExecutor executor{context->get_executor(), clock};
  executor.post(task);
  context.reset();
  EXPECT_EQ(task.ran, 0);
  EXPECT_EQ(task.dropped, 1);
}

TEST(AsioClock, fires_on_the_loop_and_lets_it_end) {
  boost::asio::io_context context;
  AsioClock clock{context.get_executor()};
  AsioExecutor executor{context.get_executor(), clock};
  int runs = 0;
  Timer soon{clock, clock.now() + std::chrono::milliseconds{2}, executor, [&] { ++runs; }};
  Timer sooner{clock, clock.now() + std::chrono::milliseconds{1}, executor, [&] { ++runs; }};
  Timer never{clock, clock.now() + std::chrono::hours{1}, executor, [&] { runs += 100; }};
  executor.post([&] { never.cancel(); });
  context.run();  // returns although a timer an hour away was armed
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace stoker
