#include "stoker/runtime/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace stoker {
namespace {

TEST(UsableCores, are_those_of_the_affinity_and_not_of_the_machine) {
  unsigned of_one = 0;
  // In a thread of its own: the mask is the calling thread's.
  std::jthread{[&] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int core = 0;
    while (!CPU_ISSET(core, &all)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    of_one = usable_cores();
  }}.join();
  EXPECT_EQ(of_one, 1U);
}

TEST(UsableCores, are_at_least_one_and_no_more_than_the_machine_has) {
  EXPECT_GE(usable_cores(), 1U);
  EXPECT_LE(usable_cores(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace stoker
