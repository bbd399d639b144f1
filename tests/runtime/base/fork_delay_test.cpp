#include "stoker/runtime/base/fork_delay.hpp"

#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/runtime/base/process_mutex.hpp"
#include "stoker/tests/runtime/base/fork_fixture.hpp"

namespace stoker {
namespace {

class ForkDelayTest : public ForkFixture {
 protected:
  static int files_loaded() {
    int count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info*, std::size_t, void* to) noexcept { return ++*static_cast<int*>(to), 0; },
        &count);
    return count;
  }
};

TEST_F(ForkDelayTest, a_fork_finds_no_thread_between_the_ends_of_a_delay) {
  std::atomic<int> inside{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        {
          const ForkDelay delay;
          const ForkDelay within;
          ++inside;
          --inside;
        }
        std::this_thread::yield();
      }
    });
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(true_in_child([&] { return inside.load() == 0; }));
}

TEST_F(ForkDelayTest, a_fork_gets_its_turn_though_others_always_delay_it) {
  EXPECT_TRUE(true_in_child([] {  // a fork that hangs is killed
    std::vector<std::jthread> threads;
    std::atomic<int> inside{0};
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const ForkDelay delay;
          ++inside;
          // Never the last one to leave.
          for (int spun = 0; inside < 2 && spun < 20; ++spun) std::this_thread::yield();
          --inside;
        }
      });
    bool forked = true;
    for (int i = 0; i < 5 && forked; ++i) forked = true_in_child([&] { return inside == 0; });
    return forked;
  }));
}

// As NVIDIA's driver does: its handler of fork() locks what its calls need.
std::mutex of_a_driver;

TEST_F(ForkDelayTest, a_fork_waits_before_the_handlers_of_a_driver_take_its_locks) {
  static const int handlers = pthread_atfork(
      [] { of_a_driver.lock(); }, [] { of_a_driver.unlock(); }, [] { of_a_driver.unlock(); });
  ASSERT_EQ(handlers, 0);
  static const bool first = (ForkDelays::come_first(), true);
  ASSERT_TRUE(first);
  EXPECT_TRUE(true_in_child([] {  // a fork that hangs is killed
    const std::jthread caller{[](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const ForkDelay delay;
        std::this_thread::yield();
        const std::scoped_lock lock{of_a_driver};
      }
    }};
    bool forked = true;
    for (int i = 0; i < 30 && forked; ++i) forked = true_in_child([] { return true; });
    return forked;
  }));
}

ProcessMutex of_the_process;
std::mutex of_a_host;

TEST_F(ForkDelayTest, the_handlers_of_a_host_may_wait_for_who_waits_for_us) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  static const int handlers = pthread_atfork([] { of_a_host.lock(); }, [] { of_a_host.unlock(); },
                                             [] {
                                               of_a_host.unlock();
                                               const std::scoped_lock free{of_the_process};
                                             });
  ASSERT_EQ(handlers, 0);
  static const bool first = (ForkDelays::come_first(), true);  // a driver is loaded behind it
  ASSERT_TRUE(first);
  EXPECT_TRUE(true_in_child([] {  // a fork that hangs is killed
    std::vector<std::jthread> threads;
    threads.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        {
          const std::scoped_lock lock{of_a_host};
          const std::scoped_lock inner{of_the_process};
        }
        std::this_thread::yield();
      }
    });
    threads.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        {
          const std::scoped_lock lock{of_a_host};
          const ForkDelay delay;
        }
        std::this_thread::yield();
      }
    });
    bool forked = true;
    for (int i = 0; i < 6 && forked; ++i) forked = true_in_child([] { return true; });
    return forked;
  }));
}

TEST_F(ForkDelayTest, a_child_may_list_the_loaded_files_though_the_parent_always_does) {
  std::jthread lister{[](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        const ForkDelay delay;
        static_cast<void>(files_loaded());
      }
      std::this_thread::yield();
    }
  }};
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(true_in_child([] { return files_loaded() > 0; }));
}

TEST_F(ForkDelayTest, a_thread_may_fork_within_its_own_delay) {
  const ForkDelay delay;
  EXPECT_TRUE(true_in_child([] {
    const ForkDelay again;
    return true_in_child([] { return true; });
  }));
}

TEST_F(ForkDelayTest, threads_may_fork_within_delays_of_their_own_at_once) {
  EXPECT_TRUE(true_in_child([] {  // one that hangs is killed
    std::atomic<int> inside{0};
    std::atomic<int> forked{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        const ForkDelay delay;
        ++inside;
        while (inside.load() < 2) std::this_thread::yield();
        forked += true_in_child([] {
          const ForkDelay again;
          return true_in_child([] { return true; });
        });
      });
    threads.clear();
    return forked.load() == 2;
  }));
}

TEST_F(ForkDelayTest, a_thread_may_fork_within_its_own_while_another_waits_for_its_lock) {
  EXPECT_TRUE(true_in_child([] {
    std::mutex of_the_library;
    std::atomic<bool> waits{false};
    std::unique_lock lock{of_the_library};
    const ForkDelay delay;
    const std::jthread other{[&] {
      const ForkDelay theirs;
      waits = true;
      const std::scoped_lock inner{of_the_library};
    }};
    while (!waits) std::this_thread::yield();
    const bool held = true_in_child([] { return true; });
    lock.unlock();
    return held;
  }));
}

TEST_F(ForkDelayTest, a_fork_waits_for_delays_and_mutexes_held_in_either_order) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  EXPECT_TRUE(true_in_child([] {  // a fork that hangs is killed
    static ProcessMutex mutex;
    const std::jthread mutex_last{[](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        {
          const ForkDelay delay;
          const std::scoped_lock lock{mutex};
        }
        std::this_thread::yield();
      }
    }};
    const std::jthread mutex_first{[](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        {
          const std::scoped_lock lock{mutex};
          const ForkDelay delay;
        }
        std::this_thread::yield();
      }
    }};
    bool free = true;
    for (int i = 0; i < 25; ++i)
      free = free && true_in_child([] {
               const std::scoped_lock lock{mutex};
               const ForkDelay delay;
               return true;
             });
    return free;
  }));
}

}  // namespace
}  // namespace stoker
