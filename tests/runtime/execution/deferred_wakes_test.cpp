#include "stoker/runtime/execution/deferred_wakes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {
namespace {

/// A thread that waits for `asked` and then answers. Repeated, because a thread that comes too late to
/// wait proves nothing.
struct Waiter {
  Promise<int> asked;
  Promise<int> answered;
  Future<int> answer = answered.future();
  std::atomic<bool> begun{false};
  std::atomic<bool> awake{false};
  std::jthread thread{[this, question = asked.future()] {
    begun = true;
    const int got = question.get();
    awake = true;
    answered.set(got + 1);
  }};

  Waiter() {
    while (!begun) std::this_thread::yield();
  }
};
constexpr int repeats = 200;

TEST(DeferredWakes, wake_when_the_scope_ends) {
  for (int i = 0; i < repeats; ++i) {
    Waiter waiter;
    {
      const DeferredWakes held;
      waiter.asked.set(i);
    }
    EXPECT_EQ(waiter.answer.get(), i + 1);
  }
}

TEST(DeferredWakes, wake_when_the_outermost_scope_ends) {
  for (int i = 0; i < repeats; ++i) {
    Waiter first;
    Waiter second;
    {
      const DeferredWakes outer;
      {
        const DeferredWakes inner;
        first.asked.set(i);
      }
      second.asked.set(i);
    }
    EXPECT_EQ(first.answer.get() + second.answer.get(), 2 * i + 2);
  }
}

TEST(DeferredWakes, are_given_before_their_thread_waits_itself) {
  for (int i = 0; i < repeats; ++i) {
    Waiter waiter;
    const DeferredWakes held;
    waiter.asked.set(i);
    EXPECT_EQ(waiter.answer.get(), i + 1);  // for ever, if the waiter still slept
  }
}

TEST(DeferredWakes, are_given_when_asked_for) {
  for (int i = 0; i < repeats; ++i) {
    Waiter waiter;
    const DeferredWakes held;
    waiter.asked.set(i);
    DeferredWakes::flush();
    while (!waiter.awake) std::this_thread::yield();
  }
}

TEST(DeferredWakes, reach_who_waits_with_a_deadline) {
  using namespace std::chrono_literals;
  for (int i = 0; i < repeats; ++i) {
    Promise<int> asked;
    std::optional<bool> ready;
    {
      std::jthread waiter{[&, question = asked.future()] {
        ready = question.wait_until(std::chrono::steady_clock::now() + 1min);
      }};
      const DeferredWakes held;
      asked.set(i);
      DeferredWakes::flush();
    }
    EXPECT_EQ(ready, true);
  }
}

}  // namespace
}  // namespace stoker
