// Tests that fork, and look at the outcome of a child.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

namespace stoker {

class ForkFixture : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer cannot follow a fork of a process with threads";
#endif
  }

  /// Whether `check` returned true in a forked child, which is killed if it hangs.
  template <class Check> static bool true_in_child(const Check& check) {
    int status = status_of_child(check);
#ifdef __SANITIZE_ADDRESS__
    // The sanitizer's allocator has locks that a thread of the parent may hold at the fork, and then nobody frees them.
    for (int more = 3; more > 0 && hung(status); --more) status = status_of_child(check);
#endif
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  [[nodiscard]] static bool hung(int status) {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  }

  template <class Check> static int status_of_child(const Check& check) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool held = false;
      try {
        held = check();
      } catch (const std::exception& error) {
        fprintf(stderr, "in the child: %s\n", error.what());
      }
      _exit(held ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
};

}  // namespace stoker
