#include "stoker/actors/group.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "probe.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"

namespace stoker {
namespace {

class Groups : public Probes {
 protected:
  ActorGroup<Probe> group;
};

TEST_F(Groups, cast_to_all_their_members) {
  group.join(a);
  group.join(b);
  EXPECT_EQ(group.cast_all(3), 2U);
  executor->run_all();
  EXPECT_EQ(of_a.notes, std::vector{3});
  EXPECT_EQ(of_b.notes, std::vector{3});
}

TEST_F(Groups, have_an_actor_as_a_member_once) {
  group.join(a);
  group.join(a);
  EXPECT_EQ(group.size(), 1U);
  EXPECT_TRUE(group.leave(a));
  EXPECT_FALSE(group.leave(a));
  EXPECT_EQ(group.size(), 0U);
}

TEST_F(Groups, cast_to_their_members_in_turn) {
  group.join(a);
  group.join(b);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(group.cast_next(i));
  executor->run_all();
  EXPECT_EQ(of_a.notes, (std::vector{0, 2}));
  EXPECT_EQ(of_b.notes, (std::vector{1, 3}));
}

TEST_F(Groups, go_on_in_turn_when_a_member_leaves) {
  Journal of_c;
  const auto c = probe(of_c, "c");
  for (const auto& one : {a, b, c}) group.join(one);
  ASSERT_TRUE(group.cast_next(0));
  group.leave(a);
  ASSERT_TRUE(group.cast_next(1));
  ASSERT_TRUE(group.cast_next(2));
  ASSERT_TRUE(group.cast_next(3));
  executor->run_all();
  EXPECT_EQ(of_b.notes, (std::vector{1, 3}));
  EXPECT_EQ(of_c.notes, std::vector{2});
}

TEST_F(Groups, without_members_have_nobody_to_cast_to) {
  EXPECT_EQ(group.cast_all(1), 0U);
  EXPECT_EQ(group.cast_next(1).error().code(), ErrorCode::not_found);
  EXPECT_FALSE(group.next());
}

TEST_F(Groups, lose_a_member_that_ends_before_anybody_hears_of_it) {
  group.join(a);
  group.join(b);
  std::size_t members_when_told = 99;
  const auto told =
      a.ended().then(*executor, [&](const auto&) { members_when_told = group.size(); });
  crash(a);
  EXPECT_TRUE(told.ready());
  EXPECT_EQ(members_when_told, 1U);
}

TEST_F(Groups, refuse_who_has_ended_and_who_is_nobody) {
  crash(a);
  EXPECT_EQ(code_of([&] { group.join(a); }), ErrorCode::closed);
  EXPECT_EQ(code_of([&] { group.join(ActorRef<Probe>{}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(group.size(), 0U);
}

TEST_F(Groups, may_go_before_their_members) {
  {
    ActorGroup<Probe> short_lived;
    short_lived.join(a);
  }
  crash(a);
  EXPECT_FALSE(a.alive());
}

TEST_F(Groups, of_the_parent_have_no_members_in_a_child_of_fork) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer cannot follow a fork of a process with threads";
#endif
  group.join(a);
  const std::jthread busy{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(group.size());
  }};
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // kills a child that hangs
      const bool refused = code_of([&] { group.join(b); }) == ErrorCode::forked_process;
      _exit(refused && group.size() == 0 && !group.leave(a) && !group.next() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(group.size(), 1U);
}

}  // namespace
}  // namespace stoker
