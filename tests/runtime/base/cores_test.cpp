#include "stoker/runtime/base/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

namespace stoker {
namespace {

/// Keeps a thread on the first of its cores while it lives; 0 is the calling thread.
class Pinned {
 public:
  explicit Pinned(pid_t thread) : thread_{thread} {
    EXPECT_EQ(sched_getaffinity(thread_, sizeof before_, &before_), 0);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    EXPECT_EQ(sched_setaffinity(thread_, sizeof one, &one), 0);
  }
  ~Pinned() { sched_setaffinity(thread_, sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  const pid_t thread_;
  cpu_set_t before_{};
};

TEST(UsableCores, are_those_of_the_process_s_affinity_and_not_of_the_machine) {
  const Pinned process{getpid()};
  EXPECT_EQ(usable_cores(), 1U);
}

TEST(UsableCores, do_not_shrink_for_a_thread_that_was_pinned) {
  const unsigned before = usable_cores();
  unsigned seen = 0;
  std::jthread{[&] {
    const Pinned loop{0};
    seen = usable_cores();
  }}.join();
  EXPECT_EQ(seen, before);
}

TEST(UsableCores, are_at_least_one_and_no_more_than_the_machine_has) {
  EXPECT_GE(usable_cores(), 1U);
  EXPECT_LE(usable_cores(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace stoker
