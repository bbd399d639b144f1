// Who may wait, and how long others are told to stay away.
#include "stoker/api/serve/admission.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stoker/api/serve/rate_meter.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

std::string retry_after(const Result<Admission::Ticket>& refused) {
  return std::string{refused.error().detail("retry_after_ms")};
}

TEST(Admissions, limit_the_requests_that_wait) {
  const auto admission = std::make_shared<Admission>(2, 100, 50ms);
  auto first = admission->admit(1);
  auto second = admission->admit(1);
  ASSERT_TRUE(first && second);
  const auto third = admission->admit(1);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), ErrorCode::overloaded);
  EXPECT_TRUE(third.error().retryable());
  EXPECT_EQ(third.error().detail("limit"), "max_requests");
  EXPECT_EQ(admission->refused(), 1U);
  first->give_back();
  EXPECT_TRUE(admission->admit(1));
}

TEST(Admissions, limit_the_requests_of_a_level_beside) {
  const auto admission =
      std::make_shared<Admission>(3, 100, 50ms, std::vector{Admission::no_limit, std::size_t{1}});
  auto low = admission->admit(10, 1);
  ASSERT_TRUE(low);
  const auto refused = admission->admit(10, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::overloaded);
  EXPECT_EQ(refused.error().detail("limit"), "priority");
  EXPECT_EQ(refused.error().detail("priority"), "2");
  EXPECT_EQ(admission->refused(1), 1U);
  EXPECT_EQ(admission->refused(), 0U) << "the limits of all are not reached";
  EXPECT_EQ(admission->bytes(), 10U);
  low->give_back();
  EXPECT_EQ(admission->requests(1), 0U);
  const auto first = admission->admit(1);
  const auto second = admission->admit(1);
  const auto third = admission->admit(1);
  EXPECT_FALSE(admission->admit(1, 1)) << "the limit of all holds, too";
  EXPECT_EQ(admission->requests(1), 0U) << "its place in the level was given back";
  EXPECT_EQ(admission->refused(1), 1U);
  EXPECT_EQ(admission->requests(0), 3U);
}

TEST(Admissions, limit_the_bytes_that_wait) {
  const auto admission = std::make_shared<Admission>(9, 100, 50ms);
  const auto first = admission->admit(60);
  const auto second = admission->admit(41);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().detail("limit"), "max_bytes");
  EXPECT_TRUE(admission->admit(40));
  EXPECT_EQ(admission->bytes(), 60U) << "the last place was given back at once";
}

TEST(Admissions, refuse_for_ever_what_can_never_wait) {
  const auto admission = std::make_shared<Admission>(9, 100, 50ms);
  const auto refused = admission->admit(101);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::limit_exceeded);
  EXPECT_FALSE(refused.error().retryable());
}

TEST(Admissions, say_when_what_waits_will_be_gone) {
  const auto admission = std::make_shared<Admission>(10, 1000, 50ms);
  std::vector<Admission::Ticket> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(*admission->admit(1));
  EXPECT_EQ(retry_after(admission->admit(1)), "50") << "nothing is known yet";
  admission->set_rate(100);
  EXPECT_EQ(retry_after(admission->admit(1)), "101") << "ten requests at a hundred a second";
  admission->set_rate(1e9);
  EXPECT_EQ(retry_after(admission->admit(1)), "1");
  admission->set_rate(1e-9);
  EXPECT_EQ(retry_after(admission->admit(1)), "60000");
}

TEST(Admissions, admit_nobody_once_they_are_closed) {
  const auto admission = std::make_shared<Admission>(2, 100, 50ms);
  admission->close(Error{"test", ErrorCode::closed, "first"});
  admission->close(Error{"test", ErrorCode::closed, "second"});
  EXPECT_EQ(admission->admit(1).error().reason(), "first");
}

TEST(Admissions, admit_nobody_once_they_are_closed_whoever_asks) {
  for (int n = 0; n < 200; ++n) {
    const auto admission = std::make_shared<Admission>(1'000'000, 1'000'000, 50ms);
    std::vector<std::vector<Admission::Ticket>> tickets(3);
    std::vector<std::jthread> threads;
    for (auto& mine : tickets)
      threads.emplace_back([&] {
        while (auto ticket = admission->admit(1)) mine.push_back(*std::move(ticket));
      });
    while (admission->requests() < 3) std::this_thread::yield();
    admission->close(Error{"test", ErrorCode::closed, "closed"});
    const std::size_t admitted = admission->requests();
    threads.clear();
    ASSERT_EQ(admission->requests(), admitted);
  }
}

TEST(Admissions, never_admit_more_than_their_limit_whoever_asks) {
  const auto admission = std::make_shared<Admission>(3, 1000, 50ms);
  std::atomic<int> inside{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        // A drain waits until nobody is counted, so those who are refused never are.
        if (admission->requests() > 3) exceeded = true;
        if (const auto ticket = admission->admit(1)) {
          if (inside.fetch_add(1) >= 3) exceeded = true;
          inside.fetch_sub(1);
        }
      }
    });
  threads.clear();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(admission->requests(), 0U);
  EXPECT_EQ(admission->bytes(), 0U);
}

TEST(RateMeters, average_over_about_a_second) {
  RateMeter meter;
  auto now = Clock::time_point{} + 1h;
  EXPECT_EQ(meter.per_second(now), 0);
  for (int i = 0; i < 1000; ++i) {
    meter.add(5, now);
    now += 10ms;
  }
  EXPECT_NEAR(meter.per_second(now), 500, 10);
  EXPECT_LT(meter.per_second(now + 10s), 1) << "an idle one forgets";
}

TEST(RateMeters, are_right_from_their_first_seconds_on) {
  RateMeter meter;
  auto now = Clock::time_point{} + 1h;
  for (int i = 0; i < 20; ++i) {
    meter.add(5, now);
    now += 10ms;
  }
  EXPECT_NEAR(meter.per_second(now), 500, 25);
}

}  // namespace
}  // namespace stoker::serve
