#include "stoker/runtime/process/fiber_adaptor.hpp"

#include <gtest/gtest.h>

#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <string>
#include <thread>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {
namespace {

using boost::fibers::fiber;

TEST(FiberAdaptor, waiting_parks_the_fiber_and_lets_its_thread_go_on) {
  const FiberAdaptor adaptor;
  Promise<int> promise;
  std::string order;
  fiber waiter{[&] { order += "got " + std::to_string(promise.future().get()); }};
  fiber setter{[&] {
    order += "set, ";
    promise.set(1);
  }};
  waiter.join();
  setter.join();
  EXPECT_EQ(order, "set, got 1");
}

TEST(FiberAdaptor, a_fiber_is_woken_from_another_thread_and_by_its_deadline) {
  const FiberAdaptor adaptor;
  Promise<int> promise;
  Promise<int> never;
  int got = 0;
  bool in_time = true;
  fiber waiter{[&] { got = promise.future().get(); }};
  fiber hasty{[&] { in_time = never.future().wait_for(std::chrono::milliseconds{1}); }};
  std::jthread other{[&] { promise.set(8); }};
  waiter.join();
  hasty.join();
  EXPECT_EQ(got, 8);
  EXPECT_FALSE(in_time);
}

TEST(FiberAdaptor, leaves_the_thread_as_it_was) {
  EXPECT_TRUE(blocks_thread());
  {
    const FiberAdaptor adaptor;
    EXPECT_FALSE(blocks_thread());
  }
  EXPECT_TRUE(blocks_thread());
}

}  // namespace
}  // namespace stoker
