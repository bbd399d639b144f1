#include "stoker/runtime/futures/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct RecordingWaiter final : TimelineWaiter {
  std::vector<std::uint64_t>* order = nullptr;
  int good = 0;
  int bad = 0;
  void reached(const Error* failure) noexcept override {
    (failure ? bad : good) += 1;
    if (order) order->push_back(value);
  }
};

Error lost() { return Error{"device", ErrorCode::device_lost, "gone"}; }

TEST(Timeline, only_rises) {
  Timeline timeline{5};
  timeline.advance(3);
  EXPECT_EQ(timeline.value(), 5U);
  timeline.advance(9);
  EXPECT_EQ(timeline.value(), 9U);
  EXPECT_TRUE(timeline.has_reached(9));
  EXPECT_FALSE(timeline.has_reached(10));
}

TEST(Timeline, tells_waiters_in_order_of_their_values) {
  Timeline timeline;
  std::vector<std::uint64_t> order;
  std::vector<RecordingWaiter> waiters(6);
  const std::uint64_t values[] = {4, 2, 9, 2, 7, 1};
  for (int i = 0; i < 6; ++i) {
    waiters[i].value = values[i];
    waiters[i].order = &order;
    timeline.add(waiters[i]);
  }
  timeline.advance(4);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 2, 2, 4}));
  timeline.advance(100);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 2, 2, 4, 7, 9}));
}

TEST(Timeline, tells_at_once_what_is_reached_already) {
  Timeline timeline{3};
  RecordingWaiter waiter;
  waiter.value = 3;
  timeline.add(waiter);
  EXPECT_EQ(waiter.good, 1);
  EXPECT_FALSE(timeline.remove(waiter));
}

TEST(Timeline, a_removed_waiter_is_not_told) {
  Timeline timeline;
  RecordingWaiter waiter;
  waiter.value = 1;
  timeline.add(waiter);
  EXPECT_TRUE(timeline.remove(waiter));
  timeline.advance(1);
  EXPECT_EQ(waiter.good + waiter.bad, 0);
}

TEST(Timeline, a_failure_reaches_only_later_points) {
  Timeline timeline;
  const Future<void> before = timeline.reached(1);
  const Future<void> after = timeline.reached(2);
  timeline.advance(1);
  timeline.fail(lost());
  timeline.fail(Error{"other", ErrorCode::internal, "second failure"});
  timeline.advance(5);  // changes nothing any more
  EXPECT_EQ(timeline.value(), 1U);
  EXPECT_TRUE(before.wait().has_value());
  EXPECT_EQ(after.wait().error().code(), ErrorCode::device_lost);
  EXPECT_EQ(timeline.error()->reason(), "gone");
  EXPECT_TRUE(timeline.reached(1).wait().has_value());
  EXPECT_EQ(timeline.reached(6).wait().error().code(), ErrorCode::device_lost);
  EXPECT_FALSE(timeline.wait(6));
  EXPECT_TRUE(timeline.wait(1));
}

TEST(Timeline, waiters_left_at_its_end_are_told_that_it_closed) {
  Future<void> future;
  {
    Timeline timeline;
    future = timeline.reached(1);
  }
  EXPECT_EQ(future.wait().error().code(), ErrorCode::closed);
}

TEST(Timeline, a_process_waits_for_a_point_until_its_deadline) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Timeline timeline;
  const auto wait_for = [&](std::uint64_t point) {
    return Process::spawn(executor,
                          [&, point] { return timeline.wait(point, clock.now() + seconds{5}); });
  };
  const Future<bool> soon = wait_for(1);
  const Future<bool> never = wait_for(2);
  executor.run_all();
  timeline.advance(1);
  executor.run_all();
  EXPECT_TRUE(soon.get());
  clock.advance(seconds{5});
  executor.run_all();
  EXPECT_FALSE(never.get());
}

TEST(Timeline, a_waiter_may_advance_the_timeline_it_was_told_by) {
  Timeline timeline;
  struct Pusher final : TimelineWaiter {
    Timeline* timeline = nullptr;
    void reached(const Error*) noexcept override { timeline->advance(value + 1); }
  } first;
  RecordingWaiter second;
  first.timeline = &timeline;
  first.value = 1;
  second.value = 2;
  timeline.add(first);
  timeline.add(second);
  timeline.advance(1);
  EXPECT_EQ(second.good, 1);
}

TEST(Timeline, stress_waiters_of_every_kind_against_an_advancing_thread) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  Timeline timeline;
  constexpr std::uint64_t last = 2000;
  std::vector<Future<bool>> processes;
  for (int p = 0; p < 4; ++p)
    processes.push_back(Process::spawn(pool, [&, p] {
      bool good = true;
      for (std::uint64_t point = p + 1; point <= last; point += 7)
        good = good && timeline.wait(point);
      return good;
    }));
  std::vector<Future<void>> futures;
  std::jthread advancing{[&] {
    for (std::uint64_t value = 1; value <= last; ++value) timeline.advance(value);
  }};
  for (std::uint64_t point = 1; point <= last; point += 11)
    futures.push_back(timeline.reached(point));
  for (const Future<void>& future : futures) EXPECT_TRUE(future.wait().has_value());
  for (const Future<bool>& process : processes) EXPECT_TRUE(process.get());
}

}  // namespace
}  // namespace stoker
