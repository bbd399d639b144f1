#include "stoker/runtime/execution/executor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stoker/runtime/asio/asio_clock.hpp"
#include "stoker/runtime/asio/asio_executor.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/futures/future.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

class CountingTask final : public Task {
 public:
  void run() noexcept override { ran.fetch_add(1); }
  void drop() noexcept override { dropped.fetch_add(1); }
  std::atomic<int> ran{0};
  std::atomic<int> dropped{0};
};

/// A task that may defer others. Owns itself until it has run.
class BriefTask final : public Task {
 public:
  static void post(Executor& executor, std::function<void()> function) {
    executor.post(*std::make_unique<BriefTask>(std::move(function)).release());
  }
  explicit BriefTask(std::function<void()> function) : function_{std::move(function)} {
    brief = true;
  }
  void run() noexcept override {
    const std::unique_ptr<BriefTask> self{this};
    function_();
  }

 private:
  std::function<void()> function_;
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
  BriefTask::post(pool, [&] {
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
  BriefTask::post(pool, [&] {
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

TEST(ThreadPool, a_task_that_defers_itself_goes_behind_all_that_waits) {
  SystemClock clock;
  std::string order;
  struct Again final : Task {
    ThreadPool* pool = nullptr;
    std::string* order = nullptr;
    int left = 3;
    Again() { brief = true; }
    void run() noexcept override {
      order->push_back('a');
      if (--left > 0) pool->defer(*this);
    }
  };
  Again again;
  again.order = &order;
  {
    ThreadPool pool{clock, {.threads = 1}};
    again.pool = &pool;
    pool.post([&] {  // all of it waits, because the only thread is here
      pool.post(static_cast<Task&>(again));
      for (const char c : {'b', 'c'}) pool.post([&order, c] { order.push_back(c); });
    });
  }
  EXPECT_EQ(order, "abcaa");
}

TEST(ThreadPool, a_continuation_does_not_wait_for_the_task_that_made_it_ready) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  Promise<int> promise;
  std::latch continued{1};
  const auto after = promise.future().then(pool, [&](const auto&) { continued.count_down(); });
  Promise<void> end;
  pool.post([&] {
    promise.set(1);
    continued.wait();  // for ever, if it ran on this thread
    end.set();
  });
  end.future().wait();
  after.wait();
}

TEST(ThreadPool, lives_for_a_process_that_begins_when_its_last_share_has_gone) {
  const LogCapture log;
  Promise<int> late;
  Future<int> answer;
  {
    const auto pool = make_thread_pool(std::make_shared<SystemClock>(), {.threads = 1});
    pool->post([&, executor = static_cast<Executor*>(pool.get()), weak = std::weak_ptr{pool}] {
      while (!weak.expired()) std::this_thread::yield();
      answer = Process::spawn(*executor, [&] { return late.future().get(); });
    });
  }
  EXPECT_FALSE(log.contains("executor destroyed while processes were parked"));
  late.set(7);
  EXPECT_EQ(answer.get(), 7);
}

TEST(ThreadPool, is_kept_by_a_task_that_has_let_go_of_its_last_share) {
  auto pool = make_thread_pool(std::make_shared<SystemClock>(), {.threads = 1});
  Executor& executor = *pool;
  Promise<bool> kept;
  executor.post([&executor, &kept, share = std::move(pool)]() mutable {
    share.reset();
    kept.set(executor.keep().use_count() != 0);
  });
  EXPECT_TRUE(kept.future().get());
}

TEST(ThreadPool, lives_until_what_waits_for_it_has_run) {
  auto clock = std::make_shared<ManualClock>();
  std::weak_ptr<ThreadPool> seen;
  const auto pool = [&] {
    auto made = make_thread_pool(clock, {.threads = 1});
    seen = made;
    return made;
  };
  Promise<int> promise;
  const auto continued =
      promise.future().then(*pool(), [](const Result<int>& value) { return *value + 1; });
  ASSERT_FALSE(seen.expired());
  promise.set(1);
  EXPECT_EQ(continued.get(), 2);

  Promise<int> timed;
  const Timer timer{*clock, clock->now() + std::chrono::hours{1}, *pool(), [&] { timed.set(3); }};
  ASSERT_FALSE(seen.expired());
  clock->advance(std::chrono::hours{1});
  EXPECT_EQ(timed.future().get(), 3);

  {
    const Timer cancelled{*clock, clock->now() + std::chrono::hours{1}, *pool(), [] {}};
    ASSERT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired()) << "a timer that was cancelled waits for nothing";
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

TEST(AsioExecutor, drops_tasks_of_a_loop_that_a_passing_exception_destroys) {
  CountingTask task;
  SystemClock clock;
  std::optional<AsioExecutor> executor;
  try {
    boost::asio::io_context context;
    executor.emplace(context.get_executor(), clock);
    executor->post(task);
    throw std::runtime_error{"the host failed"};
  } catch (const std::runtime_error&) {
    EXPECT_EQ(task.dropped, 1);
  }
}

/// Says what became of it.
class Witness final : public Task {
 public:
  void run() noexcept override { dropped_.set(false); }
  void drop() noexcept override { dropped_.set(true); }
  [[nodiscard]] bool dropped() const { return dropped_.future().get(); }

 private:
  Promise<bool> dropped_;
};

TEST(AsioExecutor, drops_what_comes_after_its_loop_was_destroyed) {
  SystemClock clock;
  std::optional<boost::asio::io_context> context{std::in_place};
  AsioExecutor executor{boost::asio::make_strand(*context), clock};
  context.reset();
  std::array<Witness, 2> late;
  executor.post(late[0]);
  executor.defer(late[1]);
  for (const Witness& one : late) EXPECT_TRUE(one.dropped());
}

TEST(AsioExecutor, may_go_before_its_tasks_run) {
  boost::asio::io_context context;
  SystemClock clock;
  CountingTask task;
  std::make_unique<AsioExecutor>(context.get_executor(), clock)->post(task);
  context.run();
  EXPECT_EQ(task.ran, 1);
}

TEST(AsioExecutor, continuations_that_are_ready_when_their_loop_is_gone_fail) {
  std::optional<boost::asio::io_context> context{std::in_place};
  auto executor = make_asio_executor(context->get_executor(), std::make_shared<SystemClock>());
  Promise<int> promise;
  const auto continued = promise.future().then(*executor, [](const auto&) { return 1; });
  executor.reset();
  context.reset();
  promise.set(0);
  EXPECT_EQ(continued.wait().error().code(), ErrorCode::closed);
}

TEST(AsioExecutor, lives_while_a_continuation_or_a_timer_of_it_runs) {
  boost::asio::io_context context;
  std::weak_ptr<AsioExecutor> seen;
  const auto executor = [&] {
    auto made = make_asio_executor(context.get_executor(), std::make_shared<SystemClock>());
    seen = made;
    return made;
  };
  Promise<void> promise;
  const auto continued =
      promise.future().then(*executor(), [&](const auto&) { return seen.expired(); });
  promise.set();
  context.run();
  EXPECT_FALSE(continued.get()) << "it may go on on its executor";
  EXPECT_TRUE(seen.expired());

  ManualClock clock;
  bool gone_in_time = true;
  const Timer timer{clock, clock.now(), *executor(), [&] { gone_in_time = seen.expired(); }};
  clock.advance({});
  context.restart();
  context.run();
  EXPECT_FALSE(gone_in_time);
  EXPECT_TRUE(seen.expired());
}

TEST(AsioClock, may_outlive_its_loop) {
  std::optional<boost::asio::io_context> context{std::in_place};
  AsioClock clock{context->get_executor()};
  struct Node final : TimerNode {
    void expired() noexcept override {}
  };
  Node before;
  Node after;
  clock.arm(before, clock.now() + std::chrono::hours{1});
  context->poll();
  context.reset();
  clock.arm(after, clock.now());
  EXPECT_TRUE(clock.disarm(before));
  EXPECT_TRUE(clock.disarm(after)) << "nothing expires any more";
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
