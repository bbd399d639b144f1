#include "stoker/runtime/execution/clock.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class RecordingNode final : public TimerNode {
 public:
  RecordingNode(int id, std::vector<int>& order) : id_(id), order_(&order) {}
  void expired() noexcept override { order_->push_back(id_); }

 private:
  int id_;
  std::vector<int>* order_;
};

TEST(ManualClock, moves_only_when_told) {
  ManualClock clock;
  const auto start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(milliseconds{5});
  EXPECT_EQ(clock.now() - start, milliseconds{5});
}

TEST(ManualClock, timers_expire_in_order_of_time_and_then_of_arming) {
  ManualClock clock;
  std::vector<int> order;
  RecordingNode a{1, order};
  RecordingNode b{2, order};
  RecordingNode c{3, order};
  clock.arm(a, clock.now() + seconds{2});
  clock.arm(b, clock.now() + seconds{1});
  clock.arm(c, clock.now() + seconds{2});
  EXPECT_EQ(clock.advance(milliseconds{999}), 0U);
  EXPECT_EQ(clock.advance(seconds{5}), 3U);
  EXPECT_EQ(order, (std::vector{2, 1, 3}));
}

TEST(ManualClock, a_timer_sees_its_own_time) {
  ManualClock clock;
  const auto start = clock.now();
  struct Node final : TimerNode {
    ManualClock* clock = nullptr;
    Clock::time_point seen;
    void expired() noexcept override { seen = clock->now(); }
  } node;
  node.clock = &clock;
  clock.arm(node, start + seconds{3});
  clock.advance(seconds{10});
  EXPECT_EQ(node.seen, start + seconds{3});
  EXPECT_EQ(clock.now(), start + seconds{10});
}

TEST(ManualClock, a_timer_armed_by_a_timer_expires_in_the_same_advance) {
  ManualClock clock;
  struct Node final : TimerNode {
    ManualClock* clock = nullptr;
    int times = 0;
    void expired() noexcept override {
      if (++times < 4) clock->arm(*this, clock->now() + seconds{1});
    }
  } node;
  node.clock = &clock;
  clock.arm(node, clock.now() + seconds{1});
  EXPECT_EQ(clock.advance(seconds{3}), 3U);
  EXPECT_EQ(clock.advance(seconds{1}), 1U);
  EXPECT_FALSE(clock.disarm(node));
}

TEST(ManualClock, a_disarmed_timer_never_expires) {
  ManualClock clock;
  std::vector<int> order;
  RecordingNode node{1, order};
  clock.arm(node, clock.now() + seconds{1});
  EXPECT_TRUE(clock.disarm(node));
  EXPECT_FALSE(clock.disarm(node));
  EXPECT_EQ(clock.next_due(), Clock::time_point::max());
  EXPECT_EQ(clock.advance(hours{1}), 0U);
}

TEST(TimerQueue, behaves_like_a_sorted_list_under_random_use) {
  std::mt19937 random{7};
  ManualClock clock;
  std::vector<int> expired;
  std::vector<RecordingNode> nodes;
  constexpr int count = 500;
  nodes.reserve(count);
  for (int i = 0; i < count; ++i) nodes.emplace_back(i, expired);
  std::vector<Clock::time_point> due(count);
  std::vector<bool> armed(count);
  for (int step = 0; step < 5000; ++step) {
    const int i = static_cast<int>(random() % count);
    if (armed[i]) {
      EXPECT_TRUE(clock.disarm(nodes[i]));
      armed[i] = false;
    } else {
      due[i] = clock.now() + milliseconds{random() % 1000};
      clock.arm(nodes[i], due[i]);
      armed[i] = true;
    }
    if (step % 50 == 0) {
      expired.clear();
      clock.advance(milliseconds{random() % 100});
      for (std::size_t k = 0; k < expired.size(); ++k) {
        EXPECT_TRUE(armed[expired[k]]);
        EXPECT_LE(due[expired[k]], clock.now());
        EXPECT_LE(due[expired[k == 0 ? 0 : k - 1]], due[expired[k]]);
        armed[expired[k]] = false;
      }
      for (int k = 0; k < count; ++k) EXPECT_TRUE(!armed[k] || due[k] > clock.now());
    }
  }
  for (RecordingNode& node : nodes) clock.disarm(node);
}

TEST(Timer, runs_its_callable_on_the_executor) {
  ManualClock clock;
  ManualExecutor executor{clock};
  int runs = 0;
  Timer timer{clock, clock.now() + seconds{1}, executor, [&] { ++runs; }};
  clock.advance(seconds{1});
  EXPECT_EQ(runs, 0);
  executor.run_all();
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(timer.cancel());
}

TEST(Timer, does_not_run_once_cancelled_even_if_it_was_posted) {
  ManualClock clock;
  ManualExecutor executor{clock};
  int runs = 0;
  Timer early{clock, clock.now() + seconds{1}, executor, [&] { ++runs; }};
  EXPECT_TRUE(early.cancel());
  {
    Timer posted{clock, clock.now() + seconds{1}, executor, [&] { ++runs; }};
    clock.advance(seconds{1});
    EXPECT_TRUE(posted.cancel());
  }
  executor.run_all();
  EXPECT_EQ(runs, 0);
}

TEST(Timer, keeps_its_clock_while_it_is_cancelled) {
  // Its timers run while somebody cancels them.
  struct Late final : Clock {
    [[nodiscard]] time_point now() const noexcept override { return clock.now(); }
    void arm(TimerNode& node, time_point due) noexcept override { clock.arm(node, due); }
    bool disarm(TimerNode& node) noexcept override {
      clock.advance(seconds{1});
      executor->run_all();
      EXPECT_FALSE(owner.expired()) << "the clock went while it was used";
      return clock.disarm(node);
    }
    ManualClock clock;
    ManualExecutor* executor = nullptr;
    std::weak_ptr<Executor> owner;
  };
  const auto clock = std::make_unique<Late>();  // as an executor's own: to be used while that lives
  auto executor = std::make_shared<ManualExecutor>(*clock);
  clock->executor = executor.get();
  clock->owner = executor;
  Timer timer{*clock, clock->now() + seconds{1}, *executor, [] { FAIL() << "it was cancelled"; }};
  executor.reset();  // the timer's share is the last
  EXPECT_TRUE(timer.cancel());
  EXPECT_TRUE(clock->owner.expired());
}

TEST(Timer, may_replace_itself_from_its_own_callable) {
  ManualClock clock;
  ManualExecutor executor{clock};
  int runs = 0;
  Timer timer;
  std::function<void()> again = [&] {
    if (++runs < 3) timer = Timer{clock, clock.now() + seconds{1}, executor, again};
  };
  again();
  while (clock.advance(seconds{1}) != 0) executor.run_all();
  EXPECT_EQ(runs, 3);
}

TEST(SystemClock, expires_timers_and_ends_with_none_armed) {
  SystemClock clock;
  struct Node final : TimerNode {
    Promise<void> promise;
    void expired() noexcept override { promise.set(); }
  };
  Node past;
  Node soon;
  Node never;
  clock.arm(never, clock.now() + hours{1});
  clock.arm(soon, clock.now() + milliseconds{1});
  clock.arm(past, clock.now() - seconds{1});
  past.promise.future().wait();
  soon.promise.future().wait();
  EXPECT_FALSE(clock.disarm(past));
  EXPECT_FALSE(clock.disarm(soon));
  EXPECT_TRUE(clock.disarm(never));
}

TEST(Deadlines, are_never_or_long_ago_where_a_limit_cannot_be_counted) {
  using time_point = Clock::time_point;
  using duration = Clock::duration;
  const time_point now{hours{1}};
  EXPECT_EQ(deadline_after(now, seconds{2}), now + seconds{2});
  EXPECT_EQ(deadline_after(now, -seconds{2}), now - seconds{2});
  EXPECT_EQ(deadline_after(now, duration::max()), time_point::max());
  EXPECT_EQ(deadline_after(now, duration::max() - hours{1}), time_point::max());
  EXPECT_EQ(deadline_after(now, duration::max() - hours{2}), time_point::max() - hours{1});
  EXPECT_EQ(deadline_after(now, duration::min()), time_point{duration::min() + hours{1}});
  EXPECT_EQ(deadline_after(-now.time_since_epoch() + time_point{}, duration::min()),
            time_point::min());
  EXPECT_EQ(deadline_after(time_point::max(), seconds{1}), time_point::max());
}

TEST(Deadlines, of_any_length_may_be_waited_for) {
  ManualClock clock;
  ManualExecutor executor{clock};
  const Promise<void> promise;
  const CancelSource source;
  const Timer never =
      source.cancel_at(Deadline::after(clock, Clock::duration::max()), clock, executor, "test");
  EXPECT_EQ(clock.next_due(), Clock::time_point::max());
  EXPECT_FALSE(promise.future().wait_for(Clock::duration::min()));
  EXPECT_FALSE(promise.future().wait_for(-seconds{1}));
}

}  // namespace
}  // namespace stoker
