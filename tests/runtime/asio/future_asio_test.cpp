#include "stoker/runtime/asio/future_asio.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/futures/future_await.hpp"

namespace stoker {
namespace {

namespace asio = boost::asio;

Error failure() { return Error{"test", ErrorCode::io_error, "broken"}; }

/// A value that cannot be made out of nothing.
struct Exact {
  explicit Exact(int v) : value(v) {}
  int value;
};

TEST(AsyncWait, calls_a_callback_on_its_associated_executor_and_never_at_once) {
  asio::io_context context;
  asio::io_context elsewhere;
  Promise<int> promise;
  std::optional<int> got;
  async_wait(promise.future(),
             asio::bind_executor(context, [&](Result<int> result) { got = result.value(); }));
  EXPECT_EQ(context.poll(), 0U);
  promise.set(3);
  EXPECT_EQ(elsewhere.poll(), 0U);
  EXPECT_FALSE(got);
  context.run();
  EXPECT_EQ(got, 3);

  got.reset();
  async_wait(promise.future(),
             asio::bind_executor(context, [&](Result<int> result) { got = result.value(); }));
  EXPECT_FALSE(got) << "a ready future must post too";
  context.restart();
  context.run();
  EXPECT_EQ(got, 3);
}

TEST(AsyncWait, keeps_the_loop_running_while_it_waits) {
  asio::io_context context;
  Promise<void> promise;
  bool called = false;
  async_wait(promise.future(), asio::bind_executor(context, [&](Result<void>) { called = true; }));
  std::jthread other{[&] { promise.set(); }};
  context.run();
  EXPECT_TRUE(called);
}

TEST(AsyncWait, hands_over_failures_as_results) {
  asio::io_context context;
  Promise<Exact> promise;
  promise.set(failure());
  ErrorCode code{};
  async_wait(promise.future(), asio::bind_executor(context, [&](Result<Exact> result) {
               code = result.error().code();
             }));
  context.run();
  EXPECT_EQ(code, ErrorCode::io_error);
}

TEST(AsyncWait, accepts_every_kind_of_token) {
  asio::io_context context;
  Promise<int> promise;
  const Future<int> future = promise.future();
  int called = 0;
  std::future<Result<int>> standard =
      async_wait(future, asio::bind_executor(context, asio::use_future));
  auto operation = async_wait(future, asio::deferred);
  std::move(operation)(
      asio::bind_executor(context, [&](Result<int> result) { called += result.value(); }));
  async_wait(future, asio::detached);
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        const Result<int> result = co_await async_wait(future, asio::use_awaitable);
        called += result.value();
      },
      asio::detached);
  context.poll();
  promise.set(5);
  context.run();
  EXPECT_EQ(standard.get().value(), 5);
  EXPECT_EQ(called, 10);
}

TEST(AsyncWait, takes_its_memory_from_the_handlers_allocator) {
  struct Counts {
    int allocated = 0;
    int freed = 0;
  } counts;
  asio::io_context context;
  struct Resource final : std::pmr::memory_resource {
    explicit Resource(Counts& c) : counts(&c) {}
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
      ++counts->allocated;
      return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
      ++counts->freed;
      std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
    Counts* counts;
  } resource{counts};
  Promise<void> promise;
  bool freed_before_call = false;
  async_wait(
      promise.future(),
      asio::bind_executor(
          context, asio::bind_allocator(std::pmr::polymorphic_allocator<std::byte>{&resource},
                                        [&](Result<void>) {
                                          freed_before_call = counts.freed == counts.allocated;
                                        })));
  EXPECT_EQ(counts.allocated, 1);
  promise.set();
  context.run();
  EXPECT_EQ(counts.allocated, 2);  // the wait and Asio's own post
  EXPECT_TRUE(freed_before_call);
}

TEST(AsyncWait, a_handler_that_cannot_be_posted_may_end_other_waits_as_it_goes) {
  asio::io_context context;
  struct Once final : std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
      if (std::exchange(given, true)) throw std::bad_alloc{};
      return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
      std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
    bool given = false;
  } memory_of_the_wait_alone;
  asio::cancellation_signal signal;
  Promise<int> never;
  int cancelled = 0;
  async_wait(never.future(),
             asio::bind_cancellation_slot(
                 signal.slot(), asio::bind_executor(context, [&](Result<int>) { ++cancelled; })));
  Promise<int> promise;
  std::shared_ptr<void> end_of_the_other{
      nullptr, [&](void*) { signal.emit(asio::cancellation_type::terminal); }};
  async_wait(promise.future(),
             asio::bind_executor(
                 context, asio::bind_allocator(
                              std::pmr::polymorphic_allocator<std::byte>{&memory_of_the_wait_alone},
                              [held = std::move(end_of_the_other)](Result<int>) { FAIL(); })));
  promise.set(1);
  context.run();
  EXPECT_EQ(cancelled, 1);
}

TEST(AsyncWait, can_be_cancelled_which_leaves_the_work_alone) {
  asio::io_context context;
  asio::cancellation_signal signal;
  Promise<int> promise;
  std::vector<ErrorCode> codes;
  async_wait(promise.future(),
             asio::bind_cancellation_slot(signal.slot(),
                                          asio::bind_executor(context, [&](Result<int> result) {
                                            codes.push_back(result.error().code());
                                          })));
  signal.emit(asio::cancellation_type::terminal);
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(codes, std::vector{ErrorCode::cancelled});
  EXPECT_TRUE(promise.set(1));
}

TEST(AsyncWait, a_loop_that_is_destroyed_takes_its_waiting_handlers_along) {
  Promise<int> promise;
  auto witness = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = witness;
  {
    asio::io_context context;
    async_wait(promise.future(),
               asio::bind_executor(context, [held = std::move(witness)](Result<int>) { FAIL(); }));
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          co_await async_get(promise.future());
          ADD_FAILURE();
        },
        asio::detached);
    context.poll();
  }
  EXPECT_TRUE(watch.expired());
  promise.set(1);
}

TEST(AsyncGet, gives_values_and_throws_errors_in_coroutines) {
  asio::io_context context;
  Promise<std::string> good;
  Promise<std::string> bad;
  Promise<void> nothing;
  std::string seen;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        seen = co_await async_get(good.future());
        co_await async_get(nothing.future());
        try {
          co_await async_get(bad.future());
        } catch (const Error& error) {
          seen += error.reason();
        }
      },
      asio::detached);
  context.poll();
  good.set(std::string{"fine, then "});
  nothing.set();
  bad.set(failure());
  context.run();
  EXPECT_EQ(seen, "fine, then broken");
}

TEST(AsyncGet, works_with_use_future_and_deferred) {
  asio::io_context context;
  Promise<int> promise;
  promise.set(failure());
  std::future<int> standard =
      async_get(promise.future(), asio::bind_executor(context, asio::use_future));
  context.run();
  EXPECT_THROW(standard.get(), Error);
  int got = 0;
  auto operation = async_get(make_ready_future<int>(4), asio::deferred);
  std::move(operation)(
      asio::bind_executor(context, [&](std::exception_ptr, int value) { got = value; }));
  context.restart();
  context.run();
  EXPECT_EQ(got, 4);
}

TEST(AsyncGet, loses_a_race_against_a_timer_cleanly) {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context context;
  Promise<int> never;
  std::size_t winner = 99;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        asio::steady_timer timer{context, std::chrono::milliseconds{1}};
        const auto first =
            co_await (async_get(never.future()) || timer.async_wait(asio::use_awaitable));
        winner = first.index();
      },
      asio::detached);
  context.run();
  EXPECT_EQ(winner, 1U);
}

TEST(AsyncWait, stress_completions_cancellations_and_loops_that_go) {
  for (int round = 0; round < 100; ++round) {
    std::vector<Promise<int>> promises(20);
    std::atomic<int> called{0};
    std::optional<asio::thread_pool> pool{std::in_place, 2};
    for (const auto& promise : promises)
      async_wait(promise.future(),
                 asio::bind_executor(asio::make_strand(*pool), [&](Result<int>) { ++called; }));
    std::jthread setter{[&] {
      for (auto& promise : promises) promise.set(1);
    }};
    if (round % 2 == 0) {
      pool->join();
      EXPECT_EQ(called, 20);
    } else {
      pool->stop();
      pool.reset();  // while promises are being set
    }
  }
}

/// The smallest coroutine type there is.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached await_on(Future<int> future, Executor& executor, std::string& seen) {
  try {
    seen = std::to_string(co_await future.on(executor));
  } catch (const Error& error) {
    seen = error.reason();
  }
}

TEST(FutureOn, resumes_any_coroutine_on_the_executor) {
  ManualClock clock;
  ManualExecutor executor{clock};
  std::string seen;
  Promise<int> promise;
  await_on(promise.future(), executor, seen);
  promise.set(12);
  EXPECT_EQ(seen, "");
  executor.run_all();
  EXPECT_EQ(seen, "12");
  await_on(make_ready_future<int>(failure()), executor, seen);
  executor.run_all();
  EXPECT_EQ(seen, "broken");
}

}  // namespace
}  // namespace stoker
