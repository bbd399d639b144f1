#include "stoker/runtime/execution/parker.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Parker, an_unpark_before_the_park_is_kept) {
  Parker parker;
  parker.unpark();
  parker.unpark();  // one permit, however often
  parker.park();
  ManualClock clock;
  EXPECT_FALSE(parker.park_until(clock, clock.now()));
}

TEST(Parker, a_thread_wakes_when_unparked_by_another) {
  Parker parker;
  std::jthread other{[&] { parker.unpark(); }};
  parker.park();
}

TEST(Parker, a_thread_stops_waiting_at_its_deadline) {
  Parker parker;
  EXPECT_FALSE(parker.park_until(std::chrono::steady_clock::now() + milliseconds{1}));
  parker.unpark();
  EXPECT_TRUE(parker.park_until(std::chrono::steady_clock::now() - seconds{1}));
}

TEST(Parker, a_process_stops_waiting_at_its_deadline_on_the_manual_clock) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Parker parker;
  std::optional<bool> woken;
  const auto deadline = clock.now() + seconds{5};
  const Future<void> end = Process::spawn(executor, [&] { woken = parker.park_until(deadline); });
  executor.run_all();
  clock.advance(seconds{4});
  executor.run_all();
  EXPECT_FALSE(woken.has_value());
  clock.advance(seconds{1});
  executor.run_all();
  EXPECT_EQ(woken, false);
  EXPECT_TRUE(end.ready());
}

TEST(Parker, an_unpark_that_beats_the_deadline_wins) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Parker parker;
  std::optional<bool> woken;
  const Future<void> end =
      Process::spawn(executor, [&] { woken = parker.park_until(clock.now() + seconds{5}); });
  executor.run_all();
  parker.unpark();
  clock.advance(seconds{10});
  executor.run_all();
  EXPECT_EQ(woken, true);
  EXPECT_TRUE(end.ready());
}

// The waiter destroys the parker as soon as park() returns, while unpark() may still be on its way.
TEST(Parker, may_be_destroyed_as_soon_as_park_returned) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  constexpr int rounds = 2000;
  const auto waiter = [&pool] {
    for (int i = 0; i < rounds; ++i) {
      auto parker = std::make_unique<Parker>();
      pool.post([raw = parker.get()] { raw->unpark(); });
      parker->park();
      parker.reset();
    }
  };
  const Future<void> process = Process::spawn(pool, waiter);
  waiter();  // and the same on a plain thread
  process.wait();
}

// Deadlines in the past, in the present and never, against unparks at any moment.
TEST(Parker, time_outs_and_unparks_race_without_loss) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  const auto waiter = [&] {
    for (int i = 0; i < 500; ++i) {
      auto parker = std::make_shared<Parker>();
      pool.post([parker] { parker->unpark(); });
      const auto deadline = clock.now() + std::chrono::microseconds{i % 7 * 5};
      bool woken = i % 2 == 0 ? parker->park_until(deadline) : parker->park_until(clock, deadline);
      if (!woken) parker->park();
    }
  };
  std::vector<Future<void>> processes;
  for (int i = 0; i < 4; ++i) processes.push_back(Process::spawn(pool, waiter));
  waiter();
  for (const Future<void>& process : processes) process.wait();
}

}  // namespace
}  // namespace stoker
