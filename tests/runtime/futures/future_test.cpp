#include "stoker/runtime/futures/future.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Error failure(const char* reason = "broken") { return Error{"test", ErrorCode::io_error, reason}; }

class CountingWaiter final : public Waiter {
 public:
  void wake() noexcept override { woken.fetch_add(1); }
  std::atomic<int> woken{0};
};

TEST(Future, holds_nothing_until_its_promise_is_set) {
  Promise<int> promise;
  const Future<int> future = promise.future();
  EXPECT_TRUE(future.valid());
  EXPECT_FALSE(future.ready());
  EXPECT_EQ(future.poll(), nullptr);
  EXPECT_TRUE(promise.set(5));
  ASSERT_NE(future.poll(), nullptr);
  EXPECT_EQ(**future.poll(), 5);
  EXPECT_EQ(future.wait().value(), 5);
  EXPECT_FALSE(Future<int>{}.valid());
}

TEST(Future, the_first_completion_wins) {
  Promise<int> promise;
  EXPECT_TRUE(promise.set(1));
  EXPECT_FALSE(promise.set(2));
  EXPECT_FALSE(promise.set(failure()));
  EXPECT_EQ(promise.future().get(), 1);
}

TEST(Future, get_throws_the_error_itself) {
  Promise<int> promise;
  promise.set(failure("why"));
  try {
    promise.future().get();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.reason(), "why");
  }
}

TEST(Future, a_dropped_promise_is_an_error) {
  Future<void> future;
  { future = Promise<void>{}.future(); }
  EXPECT_EQ(future.wait().error().code(), ErrorCode::closed);
  Promise<int> first;
  const Future<int> abandoned = first.future();
  first = Promise<int>{};
  EXPECT_EQ(abandoned.wait().error().code(), ErrorCode::closed);
}

TEST(Future, a_failure_nobody_looked_at_is_logged) {
  const LogCapture log;
  { Promise<void>{}.set(failure("lost and unseen")); }
  EXPECT_TRUE(log.contains("lost and unseen"));
}

TEST(Future, a_failure_somebody_looked_at_and_a_cancellation_are_not_logged) {
  const LogCapture log;
  {
    Promise<void> promise;
    promise.set(failure());
    EXPECT_NE(promise.future().poll(), nullptr);
  }
  { Promise<void>{}.set(Error{"test", ErrorCode::cancelled, "cancelled"}); }
  EXPECT_TRUE(log.lines().empty());
}

TEST(Future, waiters_are_woken_in_the_order_they_came) {
  struct Named final : Waiter {
    std::string* order = nullptr;
    char name = 0;
    void wake() noexcept override { order->push_back(name); }
  };
  std::string order;
  Named waiters[3];
  Promise<void> promise;
  for (int i = 0; i < 3; ++i) {
    waiters[i].order = &order;
    waiters[i].name = static_cast<char>('a' + i);
    promise.future().on_ready(waiters[i]);
  }
  promise.set();
  EXPECT_EQ(order, "abc");
}

TEST(Future, the_only_handle_gives_its_value_away_and_a_shared_one_a_copy) {
  const std::vector<int> value(1000, 7);
  Future<std::vector<int>> shared = make_ready_future<std::vector<int>>(value);
  const int* const where = shared.wait().value().data();
  Future<std::vector<int>> other = shared;
  EXPECT_NE(std::move(other).get().data(), where);
  EXPECT_EQ(shared.wait().value(), value);
  other = {};
  EXPECT_EQ(std::move(shared).get().data(), where);
}

TEST(Future, a_waiter_that_comes_late_is_woken_at_once) {
  CountingWaiter waiter;
  make_ready_future().on_ready(waiter);
  EXPECT_EQ(waiter.woken, 1);
}

TEST(Future, a_removed_waiter_is_not_woken) {
  CountingWaiter first;
  CountingWaiter second;
  CountingWaiter third;
  CountingWaiter stranger;
  Promise<void> promise;
  const Future<void> future = promise.future();
  future.on_ready(first);
  future.on_ready(second);
  future.on_ready(third);
  EXPECT_TRUE(future.remove(second));
  EXPECT_FALSE(future.remove(second));
  EXPECT_FALSE(future.remove(stranger));
  promise.set();
  EXPECT_EQ(first.woken, 1);
  EXPECT_EQ(second.woken, 0);
  EXPECT_EQ(third.woken, 1);
  EXPECT_FALSE(future.remove(third));
}

TEST(Future, a_thread_waits_no_longer_than_asked) {
  Promise<void> promise;
  const Future<void> future = promise.future();
  EXPECT_FALSE(future.wait_for(milliseconds{1}));
  EXPECT_FALSE(future.wait_until(std::chrono::steady_clock::now() - seconds{1}));
  promise.set();
  EXPECT_TRUE(future.wait_for(milliseconds{0}));
  EXPECT_TRUE(future.wait_for(Future<void>::duration::max()));
}

TEST(Future, a_process_waits_on_its_executors_clock) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Promise<void> promise;
  const Future<bool> in_time =
      Process::spawn(executor, [&] { return promise.future().wait_for(seconds{10}); });
  executor.run_all();
  clock.advance(seconds{9});
  executor.run_all();
  EXPECT_FALSE(in_time.ready());
  clock.advance(seconds{1});
  executor.run_all();
  EXPECT_FALSE(in_time.get());
}

TEST(Future, continuations_run_on_their_executor_with_the_outcome) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Promise<int> promise;
  const Future<std::string> text = promise.future().then(
      executor, [](const Result<int>& result) { return std::to_string(result.value() + 1); });
  promise.set(1);
  EXPECT_FALSE(text.ready());
  executor.run_all();
  EXPECT_EQ(text.get(), "2");
}

TEST(Future, continuations_may_return_nothing_or_a_result_or_throw) {
  ManualClock clock;
  ManualExecutor executor{clock};
  const Future<int> one = make_ready_future<int>(1);
  const Future<void> nothing = one.then(executor, [](const Result<int>&) {});
  const Future<int> refused =
      one.then(executor, [](const Result<int>&) -> Result<int> { return failure("no"); });
  const Future<int> thrown =
      one.then(executor, [](const Result<int>&) -> int { throw failure("thrown"); });
  const Future<int> passed = refused.then(executor, [](const Result<int>& r) { return r.value(); });
  executor.run_all();
  EXPECT_TRUE(nothing.wait().has_value());
  EXPECT_EQ(refused.wait().error().reason(), "no");
  EXPECT_EQ(thrown.wait().error().reason(), "thrown");
  EXPECT_EQ(passed.wait().error().reason(), "no");
}

TEST(Future, a_continuation_whose_executor_goes_is_closed) {
  ManualClock clock;
  Future<void> result;
  {
    ManualExecutor executor{clock};
    result = make_ready_future().then(executor, [](const Result<void>&) {});
  }
  EXPECT_EQ(result.wait().error().code(), ErrorCode::closed);
}

TEST(Future, a_used_continuation_lets_go_of_its_input) {
  ManualClock clock;
  ManualExecutor executor{clock};
  auto value = std::make_shared<int>(3);
  const std::weak_ptr<int> witness = value;
  Future<int> result =
      make_ready_future<std::shared_ptr<int>>(std::move(value))
          .then(executor, [](const Result<std::shared_ptr<int>>& r) { return **r; });
  executor.run_all();
  EXPECT_TRUE(witness.expired());
  EXPECT_EQ(result.get(), 3);
}

TEST(Future, cancel_reaches_the_producer_through_a_continuation) {
  struct Cancellable final : FutureState<void> {
    void cancel() noexcept override { complete(Error{"test", ErrorCode::cancelled, "stopped"}); }
  };
  ManualClock clock;
  ManualExecutor executor{clock};
  const boost::intrusive_ptr<FutureState<void>> state{new Cancellable};
  const Future<void> end =
      Future<void>{state}.then(executor, [](const Result<void>& r) -> Result<void> { return r; });
  end.cancel();
  executor.run_all();
  EXPECT_EQ(end.wait().error().code(), ErrorCode::cancelled);
  end.cancel();  // nothing left to cancel
}

TEST(Future, a_plain_thread_that_waits_may_do_the_work_itself_but_a_process_may_not) {
  struct Assisted final : FutureState<int> {
    void assist(time_point) noexcept override { complete(9); }
  };
  EXPECT_EQ((Future<int>{boost::intrusive_ptr<FutureState<int>>{new Assisted}}.get()), 9);
  ManualClock clock;
  ManualExecutor executor{clock};
  const boost::intrusive_ptr<FutureState<int>> state{new Assisted};
  const Future<int> inside = Process::spawn(executor, [&] { return Future<int>{state}.get(); });
  executor.run_all();
  EXPECT_FALSE(inside.ready());
  state->complete(1);
  executor.run_all();
  EXPECT_EQ(inside.get(), 1);
}

TEST(Future, values_need_not_be_copyable_to_be_looked_at) {
  Promise<std::unique_ptr<int>> promise;
  promise.set(std::make_unique<int>(4));
  EXPECT_EQ(**promise.future().wait(), 4);
}

// One completion, many kinds of waiters, and waiters that leave at the same moment.
TEST(Future, stress_completion_against_waiting_adding_and_removing) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  for (int round = 0; round < 300; ++round) {
    Promise<int> promise;
    const Future<int> future = promise.future();
    std::vector<Future<int>> processes;
    for (int i = 0; i < 3; ++i)
      processes.push_back(Process::spawn(pool, [future] { return future.get(); }));
    const Future<int> chained = future.then(pool, [](const Result<int>& r) { return *r + 1; });
    std::jthread leaver{[&] {
      for (int i = 0; i < 20; ++i) {
        CountingWaiter waiter;
        future.on_ready(waiter);
        const bool removed = future.remove(waiter);
        while (!removed && waiter.woken == 0) std::this_thread::yield();
        EXPECT_EQ(waiter.woken, removed ? 0 : 1);
      }
    }};
    std::jthread hasty{
        [&] { static_cast<void>(future.wait_for(std::chrono::microseconds{round % 50})); }};
    std::jthread setter{[&] { EXPECT_TRUE(promise.set(round)); }};
    EXPECT_EQ(future.get(), round);
    EXPECT_EQ(chained.get(), round + 1);
    for (const Future<int>& process : processes) EXPECT_EQ(process.get(), round);
  }
}

TEST(Future, stress_exactly_one_of_many_completions_wins) {
  for (int round = 0; round < 200; ++round) {
    const boost::intrusive_ptr<FutureState<int>> state{new detail::PlainState<int>};
    std::atomic<int> winners{0};
    std::atomic<int> winner{-1};
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
          if (!state->complete(i)) return;
          winners.fetch_add(1);
          winner = i;
        });
    }
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(Future<int>{state}.get(), winner);
  }
}

}  // namespace
}  // namespace stoker
