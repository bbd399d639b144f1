#include "stoker/runtime/base/never_destroyed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stoker {
namespace {

TEST(NeverDestroyed, makes_its_value_when_it_is_first_asked_for) {
  static constinit NeverDestroyed<std::string> made;
  int calls = 0;
  const auto make = [&] { return ++calls, std::string{"made once"}; };
  const std::string& first = made.get(make);
  EXPECT_EQ(first, "made once");
  EXPECT_EQ(&made.get(make), &first);
  EXPECT_EQ(calls, 1);
}

TEST(NeverDestroyed, makes_it_at_the_next_call_if_the_first_throws) {
  static constinit NeverDestroyed<int> made;
  EXPECT_THROW(static_cast<void>(made.get([]() -> int { throw std::runtime_error{"not yet"}; })),
               std::runtime_error);
  EXPECT_EQ(made.get([] { return 7; }), 7);
}

TEST(NeverDestroyed, gives_threads_that_ask_first_together_one_value) {
  static constinit NeverDestroyed<int> made;
  std::atomic<int> makers{0};
  std::vector<const int*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (const int*& mine : seen)
      threads.emplace_back([&] {
        mine = &made.get([&] {
          ++makers;
          return 3;
        });
      });
  }
  EXPECT_GE(makers, 1);
  for (const int* one : seen) EXPECT_EQ(one, seen[0]);
  EXPECT_EQ(*seen[0], 3);
}

TEST(NeverDestroyed, its_value_may_ask_for_another) {
  static constinit NeverDestroyed<int> inner;
  static constinit NeverDestroyed<int> outer;
  EXPECT_EQ(outer.get([] { return 1 + inner.get([] { return 1; }); }), 2);
}

}  // namespace
}  // namespace stoker
