// The explorer itself: that it finds what is there to be found, by the classic litmus tests, and
// calls nothing a fault that is none.
#include "explorer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "explored_types.hpp"

namespace stoker::explore {
namespace {

using Order = std::memory_order;

struct Increments {
  Atomic<int> number{0};
  void split() { number.store(number.load() + 1); }
  void whole() { number.fetch_add(1); }
  void end() { check(number.load() == 2, "an increment is lost"); }
};

TEST(Explorer, finds_a_lost_update) {
  const Report report = explore<Increments>({&Increments::split, &Increments::split});
  EXPECT_EQ(report.failure, "an increment is lost");
}

TEST(Explorer, finds_nothing_where_nothing_is_wrong) {
  const Report report = explore<Increments>({&Increments::whole, &Increments::whole});
  EXPECT_EQ(report.failure, "") << to_string(report);
  EXPECT_TRUE(report.complete);
}

TEST(Explorer, repeats_a_schedule_that_failed) {
  const Report found = explore<Increments>({&Increments::split, &Increments::split});
  const Report again =
      explore<Increments>({&Increments::split, &Increments::split}, {.replay = found.schedule});
  EXPECT_EQ(again.failure, found.failure);
  EXPECT_EQ(again.steps, found.steps);
  EXPECT_EQ(again.schedules, 1U);
}

struct Strangers {
  Atomic<int> a{0}, b{0}, c{0};
  void first() { a.store(1), a.store(2); }
  void second() { b.store(1), b.store(2); }
  void third() { c.store(1), c.store(2); }
  void end() {}
};

TEST(Explorer, runs_independent_operations_in_one_order_only) {
  const Report report =
      explore<Strangers>({&Strangers::first, &Strangers::second, &Strangers::third});
  EXPECT_EQ(report.schedules, 1U);
  EXPECT_TRUE(report.complete);
  const Report all = explore<Strangers>({&Strangers::first, &Strangers::second, &Strangers::third},
                                        {.bound = 100});
  EXPECT_EQ(all.schedules, 90U);  // 6! / (2! 2! 2!)
}

TEST(Explorer, keeps_to_a_bound_of_interruptions) {
  const auto schedules = [](unsigned bound) {
    return explore<Strangers>({&Strangers::first, &Strangers::second}, {.bound = bound}).schedules;
  };
  EXPECT_EQ(schedules(0), 2U);
  EXPECT_EQ(schedules(1), 4U);
  EXPECT_EQ(schedules(2), 6U);
}

/// Store buffering: each thread raises its flag and looks for the other's.
template <Order on_store, Order on_load> struct Flags {
  Atomic<int, true> a{0}, b{0};
  int first_saw = 0, second_saw = 0;
  void first() { a.store(1, on_store), first_saw = b.load(on_load); }
  void second() { b.store(1, on_store), second_saw = a.load(on_load); }
  void end() { check(first_saw + second_saw > 0, "neither saw the other"); }
};
using StrictFlags = Flags<Order::seq_cst, Order::seq_cst>;
using WeakFlags = Flags<Order::release, Order::acquire>;

TEST(Explorer, lets_two_flags_miss_each_other_unless_they_are_sequentially_consistent) {
  EXPECT_EQ(explore<StrictFlags>({&StrictFlags::first, &StrictFlags::second}).failure, "");
  EXPECT_NE(explore<WeakFlags>({&WeakFlags::first, &WeakFlags::second}).failure, "");
  EXPECT_NE(explore<StrictFlags>({&StrictFlags::first, &StrictFlags::second},
                                 {.without = {.seq_cst = true}})
                .failure,
            "");
  EXPECT_EQ(
      explore<WeakFlags>({&WeakFlags::first, &WeakFlags::second}, {.stale_reads = false}).failure,
      "");
}

/// Message passing, by way of a third thread that only adds to the flag.
template <Order on_store, Order on_load> struct Message {
  Plain<int> text{0};
  Atomic<int> flag{0};
  void writer() { text = 7, flag.fetch_add(2, on_store); }
  void passer() { flag.fetch_add(1, Order::relaxed); }
  void reader() {
    if (flag.load(on_load) >= 2) check(text.get() == 7, "the text is not there");
  }
  void end() {}
};
template <Order on_store, Order on_load> bool races() {
  using M = Message<on_store, on_load>;
  const Report report = explore<M>({&M::writer, &M::passer, &M::reader});
  EXPECT_TRUE(report.failure.empty() || report.failure.starts_with("a race")) << to_string(report);
  return !report.failure.empty();
}

TEST(Explorer, sees_a_race_unless_release_meets_acquire) {
  EXPECT_FALSE((races<Order::release, Order::acquire>()));
  EXPECT_TRUE((races<Order::relaxed, Order::acquire>()));
  EXPECT_TRUE((races<Order::release, Order::relaxed>()));
}

/// Coherence: nobody sees a later store and then an earlier one.
struct Counting {
  Atomic<int> number{0};
  void writer() { number.store(1, Order::relaxed), number.store(2, Order::relaxed); }
  void reader() {
    const int before = number.load(Order::relaxed);
    check(number.load(Order::relaxed) >= before, "time runs backwards");
  }
  void end() { check(number.load(Order::relaxed) == 2, "the end does not see everything"); }
};

TEST(Explorer, keeps_the_stores_to_one_atomic_in_order) {
  const Report report = explore<Counting>({&Counting::writer, &Counting::reader});
  EXPECT_EQ(report.failure, "") << to_string(report);
  EXPECT_GT(report.schedules, 5U);
}

struct Deadlock {
  Mutex a, b;
  void first() {
    const std::lock_guard one{a};
    const std::lock_guard two{b};
  }
  void second() {
    const std::lock_guard one{b};
    const std::lock_guard two{a};
  }
  void end() {}
};

TEST(Explorer, sees_who_waits_for_ever) {
  const Report report = explore<Deadlock>({&Deadlock::first, &Deadlock::second});
  EXPECT_EQ(report.failure, "somebody waits for ever");
}

struct Gone {
  std::unique_ptr<Atomic<int>> number = std::make_unique<Atomic<int>>(0);
  Atomic<int>* raw = number.get();
  Event seen, gone;
  void owner() { seen.wait(), number.reset(), gone.set(); }
  void polite() { raw->store(1), seen.set(); }
  void hasty() { seen.set(), raw->store(1); }
  void late() { seen.set(), gone.wait(), raw->store(1); }
  void end() {}
};

TEST(Explorer, sees_what_is_touched_after_its_end) {
  EXPECT_EQ(explore<Gone>({&Gone::owner, &Gone::polite}).failure, "");
  EXPECT_NE(explore<Gone>({&Gone::owner, &Gone::hasty}).failure, "");
  EXPECT_EQ(explore<Gone>({&Gone::owner, &Gone::late}).failure,
            "something is touched after its end");
}

struct Spin {
  Atomic<int> number{0};
  void reader() {
    while (number.load(Order::relaxed) < 2) Explorer::current()->yield();
  }
  void writer() { number.store(1, Order::relaxed), number.store(2, Order::relaxed); }
  void end() {}
};

TEST(Explorer, does_not_spin_where_a_loop_yields) {
  const Report report = explore<Spin>({&Spin::reader, &Spin::writer});
  EXPECT_EQ(report.failure, "") << to_string(report);
  EXPECT_TRUE(report.complete);
}

/// A program made up of a number: three threads of two operations each on two atomics.
struct Arbitrary {
  static inline unsigned seed = 0;
  static inline std::set<std::array<int, 8>> outcomes;
  Atomic<int> a{0}, b{0};
  std::array<int, 8> outcome{};

  void operate(unsigned place) {
    constexpr std::array orders{Order::relaxed, Order::seq_cst};
    const unsigned code = seed >> (4 * place) & 15U;
    Atomic<int>& at = (code & 1U) != 0 ? a : b;
    const Order order = orders[code >> 1 & 1U];
    const int value = static_cast<int>(place) + 1;
    int& result = outcome[place];
    int expected = 0;
    switch (code >> 2) {
      case 0: at.store(value, order); break;
      case 1: result = at.fetch_add(value, order); break;
      case 2:
        result = at.compare_exchange_strong(expected, value, order, order) ? -1 : expected;
        break;
      default: result = at.load(order);
    }
  }
  void first() { operate(0), operate(1); }
  void second() { operate(2), operate(3); }
  void third() { operate(4), operate(5); }
  void end() {
    outcome[6] = a.load();
    outcome[7] = b.load();
    outcomes.insert(outcome);
  }
};

TEST(Explorer, leaves_out_no_outcome_with_the_schedules_it_leaves_out) {
  std::mt19937 random{7};
  for (int i = 0; i < 200; ++i) {
    Arbitrary::seed = random();
    const auto explored = [](unsigned bound) {
      Arbitrary::outcomes.clear();
      const Report report = explore<Arbitrary>(
          {&Arbitrary::first, &Arbitrary::second, &Arbitrary::third}, {.bound = bound});
      EXPECT_TRUE(report.complete) << to_string(report);
      return std::pair{Arbitrary::outcomes, report.schedules};
    };
    const auto [all, runs] = explored(100);
    const auto [reduced, fewer] = explored(Options::any);
    EXPECT_EQ(all, reduced) << "program " << Arbitrary::seed;
    EXPECT_LE(fewer, runs);
  }
}

}  // namespace
}  // namespace stoker::explore
