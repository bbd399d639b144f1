#include "stoker/runtime/process/process.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/runtime/asio/asio_executor.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/stack_pool.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

using std::chrono::seconds;

class ProcessTest : public ::testing::Test {
 protected:
  ManualClock clock;
  ManualExecutor executor{clock};
};

TEST_F(ProcessTest, starts_on_the_executor_and_not_before) {
  bool inside = false;
  const Future<void> end = Process::spawn(executor, [&] { inside = this_process::inside(); });
  EXPECT_FALSE(inside);
  EXPECT_EQ(executor.live_processes(), 1U);
  executor.run_all();
  EXPECT_TRUE(inside);
  EXPECT_TRUE(end.wait().has_value());
  EXPECT_EQ(executor.live_processes(), 0U);
  EXPECT_FALSE(this_process::inside());
}

TEST_F(ProcessTest, its_future_holds_what_it_returns) {
  const Future<int> value = Process::spawn(executor, [] { return 42; });
  const Future<int> failure = Process::spawn(executor, []() -> Result<int> {
    return Error{"test", ErrorCode::io_error, "no"};
  });
  executor.run_all();
  EXPECT_EQ(value.get(), 42);
  EXPECT_EQ(failure.wait().error().code(), ErrorCode::io_error);
}

TEST_F(ProcessTest, an_exception_becomes_the_error_of_its_future) {
  const Future<void> own = Process::spawn(executor, [] {
    throw Error{"op", ErrorCode::cycle, "round"};
  });
  const Future<void> other = Process::spawn(executor, [] { throw std::runtime_error{"oops"}; });
  executor.run_all();
  EXPECT_EQ(own.wait().error().code(), ErrorCode::cycle);
  EXPECT_EQ(other.wait().error().code(), ErrorCode::handler_failed);
  EXPECT_EQ(other.wait().error().reason(), "oops");
}

TEST_F(ProcessTest, waiting_parks_the_process_and_not_the_thread) {
  Promise<int> promise;
  int got = 0;
  const Future<void> end = Process::spawn(executor, [&] { got = promise.future().get(); });
  executor.run_all();  // returns: the process is parked
  EXPECT_FALSE(end.ready());
  promise.set(7);
  EXPECT_EQ(got, 0);  // resumed by a post, not inside set()
  executor.run_all();
  EXPECT_EQ(got, 7);
}

TEST_F(ProcessTest, yield_lets_others_run) {
  std::string order;
  const auto writer = [&](char c) {
    return [&order, c] {
      for (int i = 0; i < 3; ++i) {
        order.push_back(c);
        this_process::yield();
      }
    };
  };
  const Future<void> a = Process::spawn(executor, writer('a'));
  const Future<void> b = Process::spawn(executor, writer('b'));
  executor.run_all();
  EXPECT_EQ(order, "ababab");
}

TEST_F(ProcessTest, sleeps_on_the_clock_it_is_given) {
  int steps = 0;
  const Future<void> end = Process::spawn(executor, [&] {
    for (; steps < 3; ++steps) this_process::sleep_for(clock, seconds{1});
  });
  for (int i = 0; i < 3; ++i) {
    executor.run_all();
    EXPECT_EQ(steps, i);
    clock.advance(seconds{1});
  }
  executor.run_all();
  EXPECT_TRUE(end.ready());
}

TEST_F(ProcessTest, knows_its_name) {
  std::string name;
  const Future<void> end =
      Process::spawn(executor, [&] { name = this_process::name(); }, {.name = "boiler"});
  executor.run_all();
  EXPECT_EQ(name, "boiler");
}

TEST_F(ProcessTest, stacks_are_used_again) {
  for (int i = 0; i < 10; ++i) {
    const Future<void> end = Process::spawn(executor, [] {});
    executor.run_all();
  }
  EXPECT_EQ(executor.stacks().kept(), 1U);
}

TEST_F(ProcessTest, a_stack_of_nothing_is_as_large_as_needed_and_an_endless_one_is_refused) {
  const auto empty = Process::spawn(executor, [] { return 1; }, {.stack_bytes = 0});
  executor.run_all();
  EXPECT_EQ(empty.get(), 1);
  EXPECT_THROW(static_cast<void>(Process::spawn(executor, [] {}, {.stack_bytes = ~std::size_t{0}})),
               std::bad_alloc);
}

TEST_F(ProcessTest, a_large_stack_can_be_asked_for) {
  const Future<int> sum = Process::spawn(executor,
                                         [] {
                                           volatile std::byte room[900 * 1024];
                                           for (std::size_t i = 0; i < sizeof room; i += 1024)
                                             room[i] = std::byte{1};
                                           int total = 0;
                                           for (std::size_t i = 0; i < sizeof room; i += 1024)
                                             total += static_cast<int>(room[i]);
                                           return total;
                                         },
                                         {.stack_bytes = 1024 * 1024});
  executor.run_all();
  EXPECT_EQ(sum.get(), 900);
}

TEST_F(ProcessTest, what_the_callable_holds_is_destroyed_inside_the_process) {
  struct Witness {
    bool* inside;
    explicit Witness(bool* seen) : inside(seen) {}
    Witness(Witness&& other) noexcept : inside(std::exchange(other.inside, nullptr)) {}
    ~Witness() {
      if (inside) *inside = this_process::inside();
    }
  };
  bool inside = false;
  const Future<void> end = Process::spawn(executor, [witness = Witness{&inside}] {});
  executor.run_all();
  EXPECT_TRUE(inside);
}

TEST_F(ProcessTest, waits_inside_a_catch_block_keep_exceptions_apart) {
  std::vector<std::string> caught;
  const auto thrower = [&](const char* what) {
    return [&caught, what] {
      try {
        throw std::runtime_error{what};
      } catch (...) {
        this_process::yield();  // the other process throws and catches meanwhile
        try {
          throw;
        } catch (const std::exception& exception) {
          this_process::yield();
          caught.emplace_back(exception.what());
        }
      }
    };
  };
  const Future<void> a = Process::spawn(executor, thrower("first"));
  const Future<void> b = Process::spawn(executor, thrower("second"));
  executor.run_all();
  EXPECT_EQ(caught, (std::vector<std::string>{"first", "second"}));
}

TEST_F(ProcessTest, many_processes_in_any_order_all_end) {
  ManualExecutor shuffled{clock, 11};
  constexpr int count = 200;
  std::vector<Promise<int>> promises(count + 1);
  std::vector<Future<void>> ends;
  for (int i = 0; i < count; ++i)
    ends.push_back(Process::spawn(shuffled, [&promises, i] {
      const int value = promises[i].future().get();
      this_process::yield();
      promises[i + 1].set(value + 1);
    }));
  promises[0].set(0);
  shuffled.run_all();
  EXPECT_EQ(promises[count].future().get(), count);
  for (const Future<void>& end : ends) EXPECT_TRUE(end.ready());
}

TEST(Process, moves_between_the_threads_of_a_pool) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  std::vector<Future<int>> results;
  for (int p = 0; p < 8; ++p)
    results.push_back(Process::spawn(pool, [] {
      int caught = 0;
      for (int i = 0; i < 300; ++i) {
        try {
          throw i;
        } catch (int value) {
          this_process::yield();
          caught += value == i ? 1 : 0;
        }
        EXPECT_TRUE(this_process::inside());
      }
      return caught;
    }));
  for (const Future<int>& result : results) EXPECT_EQ(result.get(), 300);
}

TEST(Process, ping_pong_across_threads) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  constexpr int rounds = 500;
  std::vector<Promise<int>> there(rounds);
  std::vector<Promise<int>> back(rounds);
  const Future<void> a = Process::spawn(pool, [&] {
    for (int i = 0; i < rounds; ++i) {
      there[i].set(i);
      EXPECT_EQ(back[i].future().get(), i);
    }
  });
  const Future<void> b = Process::spawn(pool, [&] {
    for (int i = 0; i < rounds; ++i) back[i].set(there[i].future().get());
  });
  a.wait();
  b.wait();
}

TEST(Process, keeps_the_pool_it_runs_on) {
  const auto clock = std::make_shared<ManualClock>();
  Promise<int> promise;
  Promise<void> parked;
  std::weak_ptr<ThreadPool> seen;
  Future<int> end;
  {
    const auto pool = make_thread_pool(clock, {.threads = 1});
    seen = pool;
    end = Process::spawn(*pool, [&] {
      parked.set();
      return promise.future().get() + 1;
    });
  }
  parked.future().wait();
  ASSERT_FALSE(seen.expired());
  promise.set(1);
  EXPECT_EQ(end.get(), 2);
}

TEST(Process, fails_with_closed_when_it_can_go_on_after_its_event_loop) {
  const LogCapture log;
  Promise<void> promise;
  std::optional<boost::asio::io_context> context{std::in_place};
  auto executor = make_asio_executor(context->get_executor(), std::make_shared<SystemClock>());
  const Future<void> end = Process::spawn(*executor, [&] { promise.future().wait(); });
  context->poll();
  executor.reset();
  context.reset();
  promise.set();
  EXPECT_EQ(end.wait().error().code(), ErrorCode::closed);
  EXPECT_TRUE(log.contains("parked process"));
}

TEST(Process, fails_with_closed_when_its_event_loop_is_destroyed) {
  const LogCapture log;
  SystemClock clock;
  Promise<void> promise;
  Future<void> parked;
  Future<void> unborn;
  std::optional<boost::asio::io_context> context{std::in_place};
  AsioExecutor executor{context->get_executor(), clock};
  parked = Process::spawn(executor, [&] { promise.future().wait(); });
  context->poll();
  promise.set();  // posts the resume, which never runs
  unborn = Process::spawn(executor, [] {});
  context.reset();
  EXPECT_EQ(parked.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(unborn.wait().error().code(), ErrorCode::closed);
  EXPECT_TRUE(log.contains("parked process"));
}

}  // namespace
}  // namespace stoker
