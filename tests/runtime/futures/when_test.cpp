#include "stoker/runtime/futures/when.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"

namespace stoker {
namespace {

Error failure(const char* reason) { return Error{"test", ErrorCode::io_error, reason}; }

TEST(WhenAll, has_the_values_in_order) {
  std::vector<Promise<int>> promises(3);
  std::vector<Future<int>> futures;
  for (const auto& promise : promises) futures.push_back(promise.future());
  const Future<std::vector<int>> all = when_all(futures);
  promises[2].set(3);
  promises[0].set(1);
  EXPECT_FALSE(all.ready());
  promises[1].set(2);
  EXPECT_EQ(all.get(), (std::vector{1, 2, 3}));
}

TEST(WhenAll, of_nothing_is_ready) {
  EXPECT_TRUE(when_all(std::vector<Future<int>>{}).get().empty());
  EXPECT_TRUE(when_all(std::vector<Future<void>>{}).wait().has_value());
}

TEST(WhenAll, fails_with_the_first_input_by_position_once_all_have_ended) {
  Promise<void> a;
  Promise<void> b;
  Promise<void> c;
  const Future<void> all = when_all(std::vector{a.future(), b.future(), c.future()});
  c.set(failure("third"));
  b.set(failure("second"));
  EXPECT_FALSE(all.ready());
  a.set();
  EXPECT_EQ(all.wait().error().reason(), "second");
}

TEST(WhenAll, takes_futures_of_different_types) {
  Promise<int> number;
  Promise<std::string> text;
  Promise<void> nothing;
  const auto all = when_all(number.future(), text.future(), nothing.future());
  number.set(1);
  text.set(std::string{"one"});
  nothing.set();
  const auto [n, t, v] = all.get();
  EXPECT_EQ(n, 1);
  EXPECT_EQ(t, "one");
}

TEST(WhenAny, names_the_first_and_lets_go_of_the_others) {
  Promise<int> a;
  Promise<int> b;
  const Future<std::size_t> any = when_any(std::vector{a.future(), b.future()});
  EXPECT_FALSE(any.ready());
  b.set(failure("also counts"));
  EXPECT_EQ(any.get(), 1U);
  EXPECT_NE(b.future().poll(), nullptr);
  a.set(1);
  EXPECT_EQ(any.get(), 1U);
}

TEST(WhenAny, of_ready_futures_is_ready_and_of_none_fails) {
  EXPECT_EQ(when_any(make_ready_future(), Promise<int>{}.future()).get(), 0U);
  EXPECT_EQ(when_any(std::vector<Future<int>>{}).wait().error().code(),
            ErrorCode::invalid_argument);
}

TEST(WhenAny, cancel_reaches_every_input) {
  struct Cancellable final : FutureState<void> {
    void cancel() noexcept override { complete(Error{"test", ErrorCode::cancelled, "stopped"}); }
  };
  std::vector<Future<void>> futures;
  for (int i = 0; i < 3; ++i)
    futures.emplace_back(boost::intrusive_ptr<FutureState<void>>{new Cancellable});
  const Future<void> all = when_all(futures);
  all.cancel();
  EXPECT_EQ(all.wait().error().code(), ErrorCode::cancelled);
}

TEST(WhenAny, stress_inputs_that_end_together) {
  for (int round = 0; round < 500; ++round) {
    std::vector<Promise<int>> promises(4);
    Promise<int> never;
    std::vector<Future<int>> futures;
    for (const auto& promise : promises) futures.push_back(promise.future());
    futures.push_back(never.future());
    std::jthread one{[&] { promises[0].set(0), promises[2].set(2); }};
    std::jthread two{[&] { promises[1].set(1), promises[3].set(3); }};
    const Future<std::size_t> any = when_any(futures);
    const Future<std::vector<int>> all =
        when_all(std::vector<Future<int>>{futures.begin(), futures.begin() + 4});
    EXPECT_LT(any.get(), 4U);
    EXPECT_EQ(all.get(), (std::vector{0, 1, 2, 3}));
  }
}

TEST(WhenAll, an_empty_future_is_refused_by_its_place) {
  const Future<int> there = make_ready_future<int>(1);
  const auto place = [](auto call) {
    try {
      static_cast<void>(call());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return std::string{error.detail("input")};
    }
    return std::string{};
  };
  EXPECT_EQ(place([&] { return when_all(std::vector{there, Future<int>{}}); }), "1");
  EXPECT_EQ(place([&] { return when_all(Future<void>{}, there); }), "0");
  EXPECT_EQ(place([&] { return when_any(std::vector{there, there, Future<int>{}}); }), "2");
  EXPECT_EQ(place([&] { return when_any(there, there); }), "");
}

}  // namespace
}  // namespace stoker
