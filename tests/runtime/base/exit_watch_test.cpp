// exit() waits for whoever is inside a library, before the library cleans up after itself.
#include "stoker/runtime/base/exit_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <semaphore>
#include <thread>

namespace stoker {
namespace {

class Exit : public ::testing::Test {
 protected:
  // Each statement runs in a process of its own that starts afresh.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(Exit, waits_for_whoever_delays_it_before_older_handlers_run) {
  EXPECT_EXIT(
      {
        static std::binary_semaphore delayed{0};
        static std::binary_semaphore leaving{0};
        static std::atomic<bool> over{false};
        // As a driver would, which is loaded before the first watch.
        std::atexit([] { std::_Exit(over ? 0 : 1); });
        const ExitWatch watch{[] { leaving.release(); }};
        std::thread{[] {
          const ExitDelay delay;
          delayed.release();
          leaving.acquire();
          over = true;
        }}.detach();
        delayed.acquire();
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, cannot_be_delayed_once_it_has_begun) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::_Exit(ExitDelay{}.too_late() ? 0 : 1); });
        const ExitWatch watch{[] {}};
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, waits_before_the_objects_go_that_the_first_use_of_a_library_made) {
  EXPECT_EXIT(
      {
        static std::binary_semaphore used{0};
        static std::binary_semaphore leaving{0};
        static std::atomic<bool> over{false};
        const ExitWatch watch{[] { leaving.release(); }};
        std::thread{[] {
          const ExitDelay inside;
          std::atomic<bool> done{false};
          // The destructor of a static object of the library, newer than the watch.
          static_cast<void>(first_use(done, [] { std::atexit([] { std::_Exit(over ? 0 : 1); }); }));
          used.release();
          leaving.acquire();
          over = true;
        }}.detach();
        used.acquire();
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, ends_though_a_library_never_returns) {
  EXPECT_EXIT(
      {
        static std::binary_semaphore inside{0};
        std::thread{[] {
          const FirstUse first;
          inside.release();
          std::binary_semaphore{0}.acquire();
        }}.detach();
        inside.acquire();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, of_a_child_neither_waits_for_threads_of_its_parent_nor_calls_its_watches) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer cannot follow a fork of a process with threads";
#endif
  EXPECT_EXIT(
      {
        static std::binary_semaphore inside{0};
        static bool left = false;
        std::atexit([] { std::_Exit(left ? 0 : 1); });
        const ExitWatch parents{[] { std::_Exit(2); }};
        std::thread{[] {
          const ExitDelay delay;
          inside.release();
          std::binary_semaphore{0}.acquire();
        }}.detach();
        inside.acquire();
        const pid_t child = fork();
        if (child == 0) {
          const ExitWatch own{[] { left = true; }};
          std::exit(3);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(FirstUses, happen_once_unless_they_fail) {
  std::atomic<bool> done{false};
  int uses = 0;
  EXPECT_THROW(static_cast<void>(first_use(done,
                                           [&] {
                                             ++uses;
                                             throw std::bad_alloc{};
                                           })),
               std::bad_alloc);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(first_use(done, [&] { ++uses; }));
  EXPECT_EQ(uses, 2);
}

}  // namespace
}  // namespace stoker
