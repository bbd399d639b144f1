// Every schedule of small scenarios of the real future_core.cpp; explorer.hpp says what that
// proves.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "stoker/tests/runtime/explorer/explored_runtime.hpp"
#include "stoker/tests/runtime/explorer/explorer_expect.hpp"

namespace stoker::explore {
namespace {

/// An outcome that may be read only after it was written.
class Value {
 public:
  explicit Value(int number) : number_(number) {}
  Value(Value&& other) noexcept : number_(other.get()) {}
  [[nodiscard]] int get() const { return number_.get(); }

 private:
  Plain<int> number_;
};

struct State final : stoker_explored::FutureState<Value> {};
using Handle = boost::intrusive_ptr<State>;

struct Waiter final : stoker_explored::Waiter {
  void wake() noexcept override {
    next = this;  // it may be gone now: whoever follows it comes back here
    woken.set();
  }
  Event woken;  // fails if it is set twice
};

/// A future, with a handle for each thread.
struct Futures {
  ExploredContext context;
  Handle first_handle = std::make_unique<State>().release();
  Handle second_handle = first_handle;
  Handle third_handle = first_handle;
  std::optional<bool> first_won, second_won;

  void complete_first() { first_won = first_handle->complete(Value{1}); }
  void complete_second() { second_won = second_handle->complete(Value{2}); }
  void expect_outcome(const Handle& handle) const {
    check(handle->ready(), "it is not ready");
    check(handle->result()->get() == 1 || handle->result()->get() == 2, "it is neither outcome");
  }
  void add_second() { add(second_handle); }
  void add_third() { add(third_handle); }
  void add(const Handle& handle) const {
    Waiter waiter;
    handle->add(waiter);
    waiter.woken.wait();
    expect_outcome(handle);
  }
  void change_mind_second() { change_mind(second_handle); }
  void change_mind_third() { change_mind(third_handle); }
  void change_mind(const Handle& handle) const {
    Waiter waiter;
    handle->add(waiter);
    if (handle->remove(waiter)) return check(!waiter.woken.is_set(), "it is woken and removed");
    waiter.woken.wait();
    expect_outcome(handle);
  }
  void leave_early() {
    Waiter waiter;
    second_handle->add(waiter);
    static_cast<void>(second_handle->remove(waiter));
  }
  void wait_and_drop() {
    second_handle->wait();
    expect_outcome(second_handle);
    second_handle.reset();
  }
  void wait_a_while_and_drop() {
    if (second_handle->wait_until(ExploredClock::later)) expect_outcome(second_handle);
    second_handle.reset();
  }
  void complete_and_drop() {
    complete_first();
    first_handle.reset();
  }
  void end() {
    check(first_won != second_won, "the first completion wins, and only that one");
    if (!third_handle->ready()) return;
    check(third_handle->result()->get() == (first_won == true ? 1 : 2), "the wrong one won");
  }
};
/// Only the threads have handles, so that one of them destroys the future.
struct Shared : Futures {
  Shared() { third_handle.reset(); }
  void end() {}
};

Report added(const Options& options = {}) {
  return explore<Futures>({&Futures::add_second, &Futures::complete_first}, options);
}
Report changed_mind(const Options& options = {}) {
  return explore<Futures>({&Futures::change_mind_second, &Futures::complete_first}, options);
}

TEST(FutureCoreExplored, a_waiter_that_meets_the_completion_is_woken_once_and_sees_the_outcome) {
  expect_holds(added(), 5);
}

TEST(FutureCoreExplored, the_first_completion_wins) {
  expect_holds(
      explore<Futures>({&Futures::complete_first, &Futures::complete_second, &Futures::add_third}),
      10);
}

TEST(FutureCoreExplored, two_waiters_are_woken_once_each) {
  expect_holds(
      explore<Futures>({&Futures::add_second, &Futures::add_third, &Futures::complete_first}), 100);
}

TEST(FutureCoreExplored, a_waiter_is_either_woken_or_removed) { expect_holds(changed_mind(), 10); }

TEST(FutureCoreExplored, waiters_that_come_and_go_are_woken_or_removed_each) {
  expect_holds(explore<Futures>({&Futures::change_mind_second, &Futures::change_mind_third,
                                 &Futures::complete_first},
                                {.bound = 3}),
               1000);
  expect_holds(explore<Futures>(
                   {&Futures::change_mind_second, &Futures::add_third, &Futures::complete_first},
                   {.bound = 3}),
               1000);
}

TEST(FutureCoreExplored, the_last_handle_may_go_while_the_completion_is_on_its_way_out) {
  expect_holds(explore<Shared>({&Shared::wait_and_drop, &Shared::complete_and_drop}), 20);
}

TEST(FutureCoreExplored, a_wait_that_ends_by_its_deadline_leaves_no_waiter_behind) {
  expect_holds(explore<Shared>({&Shared::wait_a_while_and_drop, &Shared::complete_and_drop}), 50);
}

TEST(FutureCoreExplored, the_explorer_would_see_an_order_that_is_too_weak) {
  expect_found(added, {.without = {.acquire = true}});
  expect_found(added, {.without = {.release = true}});
}

TEST(FutureCoreExplored, the_explorer_would_see_a_waiter_that_leaves_before_its_wake) {
  expect_found([](const Options& options) {
    return explore<Futures>({&Futures::leave_early, &Futures::complete_first}, options);
  });
}

}  // namespace
}  // namespace stoker::explore
