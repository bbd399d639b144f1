#include "stoker/runtime/futures/cancel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"

namespace stoker {
namespace {

using std::chrono::seconds;

TEST(CancelToken, without_a_source_is_never_cancelled) {
  const CancelToken token;
  EXPECT_FALSE(token.cancelled());
  EXPECT_FALSE(token.cause());
  EXPECT_TRUE(token.try_check().has_value());
  EXPECT_NO_THROW(token.check());
  const CancelRegistration nothing = token.on_cancel([](const Error&) { FAIL(); });
}

TEST(CancelSource, the_first_cause_is_kept) {
  const CancelSource source;
  const CancelToken token = source.token();
  EXPECT_TRUE(source.cancel(deadline_error("op")));
  EXPECT_FALSE(source.cancel(cancelled_error("op")));
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(token.cause()->code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(token.try_check().error().op(), "op");
  EXPECT_EQ(code_of([&] { token.check(); }), ErrorCode::deadline_exceeded);
}

TEST(CancelSource, tells_callbacks_once_and_late_ones_at_once) {
  const CancelSource source;
  int early = 0;
  int late = 0;
  int gone = 0;
  const CancelRegistration first = source.token().on_cancel([&](const Error&) { ++early; });
  {
    const CancelRegistration left = source.token().on_cancel([&](const Error&) { ++gone; });
  }
  source.cancel(cancelled_error("op"));
  source.cancel(cancelled_error("op"));
  const CancelRegistration second = source.token().on_cancel([&](const Error& error) {
    ++late;
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  });
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 1);
  EXPECT_EQ(gone, 0);
}

TEST(CancelSource, cancels_when_its_deadline_passes) {
  ManualClock clock;
  ManualExecutor executor{clock};
  const CancelSource source;
  const Timer timer =
      source.cancel_at(Deadline::after(clock, seconds{2}), clock, executor, "predict");
  const Timer none = source.cancel_at(Deadline{}, clock, executor, "never");
  clock.advance(seconds{1});
  executor.run_all();
  EXPECT_FALSE(source.token().cancelled());
  clock.advance(seconds{1});
  executor.run_all();
  EXPECT_EQ(source.token().cause()->op(), "predict");
}

TEST(Deadline, the_earlier_of_two_counts_and_none_is_last) {
  ManualClock clock;
  const Deadline none;
  const Deadline soon = Deadline::after(clock, seconds{1});
  const Deadline later = Deadline::after(clock, seconds{2});
  EXPECT_EQ(min(none, soon), soon);
  EXPECT_EQ(min(later, soon), soon);
  EXPECT_FALSE(min(none, none).exists());
  EXPECT_FALSE(none.passed(clock.now() + seconds{1000000}));
  EXPECT_FALSE(soon.passed(clock.now()));
  clock.advance(seconds{1});
  EXPECT_TRUE(soon.passed(clock.now()));
}

TEST(CancelSource, stress_registering_against_cancelling) {
  for (int round = 0; round < 200; ++round) {
    const CancelSource source;
    std::atomic<int> told{0};
    std::atomic<int> winners{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] { winners += source.cancel(cancelled_error("op")) ? 1 : 0; });
      threads.emplace_back([&] {
        for (int k = 0; k < 20; ++k) {
          int mine = 0;  // the registration's end waits for a callback that is running
          {
            const auto registration = source.token().on_cancel([&](const Error&) { ++mine; });
          }
          told += mine;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(winners, 1);
  }
}

}  // namespace
}  // namespace stoker
