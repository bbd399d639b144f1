#include "stoker/runtime/queue/bounded_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace stoker {
namespace {

TEST(BoundedQueue, refuses_beyond_its_capacity_and_leaves_the_value_alone) {
  BoundedQueue<std::unique_ptr<int>> handoff{2};
  EXPECT_TRUE(handoff.try_push(std::make_unique<int>(1)));
  EXPECT_TRUE(handoff.try_push(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(handoff.try_push(std::move(third)));
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(**handoff.try_pop(), 1);
  EXPECT_TRUE(handoff.try_push(std::move(third)));
  EXPECT_EQ(handoff.size(), 2U);
}

TEST(BoundedQueue, gives_nothing_when_empty) {
  BoundedQueue<int> handoff{4};
  EXPECT_FALSE(handoff.try_pop());
}

TEST(BoundedQueue, stress_every_value_arrives_once) {
  BoundedQueue<int> handoff{64};
  constexpr int each = 5000;
  std::atomic<long> sum{0};
  {
    std::vector<std::jthread> threads;
    for (int p = 0; p < 2; ++p) {
      threads.emplace_back([&] {
        for (int i = 1; i <= each; ++i)
          while (!handoff.try_push(i)) std::this_thread::yield();
      });
      threads.emplace_back([&] {
        for (int taken = 0; taken < each;) {
          if (const auto value = handoff.try_pop()) {
            sum += *value;
            ++taken;
          } else {
            std::this_thread::yield();
          }
        }
      });
    }
  }
  EXPECT_EQ(sum, 2L * each * (each + 1) / 2);
}

}  // namespace
}  // namespace stoker
