// How a supervisor counts restarts: exactly while they are few, in bounded memory when they are many.
#include "stoker/actors/supervisor/restart_times.hpp"

#include <gtest/gtest.h>

namespace stoker {
namespace {

using std::chrono::milliseconds;

Clock::time_point at(std::int64_t ms) { return Clock::time_point{milliseconds{ms}}; }

TEST(RestartTimes, forget_what_is_longer_ago_than_the_period) {
  RestartTimes times{milliseconds{10}};
  for (const int ms : {0, 1, 5}) times.add(at(ms));
  EXPECT_EQ(times.count(), 3U);
  times.add(at(10));
  EXPECT_EQ(times.count(), 4U) << "ten ago is within ten";
  times.add(at(12));
  EXPECT_EQ(times.count(), 3U) << "those at 5, 10 and 12";
}

TEST(RestartTimes, of_an_endless_period_are_all_counted_and_not_all_held) {
  RestartTimes times{std::chrono::nanoseconds::max()};
  for (int i = 0; i < 100'000; ++i) times.add(at(i));
  EXPECT_EQ(times.count(), 100'000U);
  EXPECT_LE(times.held(), 2048U);
}

TEST(RestartTimes, that_are_many_are_forgotten_a_512th_of_the_period_late_at_most) {
  constexpr int period = 5120;
  RestartTimes times{milliseconds{period}};
  for (int ms = 0; ms < 20 * period; ++ms) {
    times.add(at(ms));
    const auto exact = static_cast<std::size_t>(std::min(ms, period) + 1);
    ASSERT_GE(times.count(), exact);
    ASSERT_LE(times.count(), exact + period / 512);
    ASSERT_LE(times.held(), 2048U);
  }
}

}  // namespace
}  // namespace stoker
