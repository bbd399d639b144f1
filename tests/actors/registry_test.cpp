#include "stoker/actors/registry.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"

namespace stoker {
namespace {

struct Worker final : Actor {
  int on(int value) { return value + 1; }
  void on(const std::string&) { throw std::runtime_error{"on purpose"}; }
};
struct Other final : Actor {};

class Names : public testing::Test {
 protected:
  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  ActorRegistry names;
  ActorRef<Worker> worker = spawn<Worker>(executor, {.name = "worker"});
};

TEST_F(Names, find_the_actor_that_has_them) {
  names.register_name("adder", worker);
  EXPECT_EQ(names.whereis("adder"), worker);
  const auto answer = names.find<Worker>("adder").call(1);
  executor->run_all();
  EXPECT_EQ(answer.get(), 2);
}

TEST_F(Names, that_nobody_has_find_nothing_and_say_so) {
  EXPECT_FALSE(names.whereis("nobody"));
  EXPECT_EQ(code_of([&] { return names.find<Worker>("nobody"); }), ErrorCode::not_found);
  EXPECT_FALSE(names.unregister("nobody"));
}

TEST_F(Names, are_taken_once) {
  names.register_name("adder", worker);
  const auto other = spawn<Other>(executor, {.name = "other"});
  const auto refused = names.try_register_name("adder", other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::already_exists);
  EXPECT_EQ(refused.error().detail("actor"), "worker");
  EXPECT_EQ(names.whereis("adder"), worker);
}

TEST_F(Names, may_be_several_for_one_actor) {
  names.register_name("b", worker);
  names.register_name("a", worker);
  ASSERT_EQ(names.list().size(), 2U);
  EXPECT_EQ(names.list()[0].name, "a");
}

TEST_F(Names, of_another_class_are_refused) {
  names.register_name("adder", worker);
  const Error error = error_of([&] { return names.find<Other>("adder"); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.detail("got").find("Worker"), std::string_view::npos);
}

TEST_F(Names, must_be_given_to_somebody_alive) {
  EXPECT_EQ(names.try_register_name("", worker).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(names.try_register_name("nobody", {}).error().code(), ErrorCode::invalid_argument);
  static_cast<void>(worker.stop());
  executor->run_all();
  EXPECT_EQ(names.try_register_name("late", worker).error().code(), ErrorCode::closed);
  EXPECT_FALSE(names.whereis("late"));
}

TEST_F(Names, are_free_again_before_a_watcher_is_told) {
  struct Successor final : Actor {
    Successor(ActorRegistry& registry, ActorRef<Worker> whom) : names{registry}, first{whom} {}
    void on(int) { static_cast<void>(monitor(first)); }
    void on_down(const Down&) override {
      taken = names.try_register_name("adder", self()).has_value();
    }
    ActorRegistry& names;
    ActorRef<Worker> first;
    bool taken = false;
  };
  names.register_name("adder", worker);
  const auto successor = spawn<Successor>(executor, {.name = "successor"}, names, worker);
  EXPECT_TRUE(successor.cast(1));
  executor->run_all();
  EXPECT_TRUE(worker.cast(std::string{"crash"}));
  executor->run_all();
  EXPECT_TRUE(successor.get()->taken);
  EXPECT_EQ(names.whereis("adder"), successor);
}

TEST_F(Names, keep_their_actor_reachable) {
  names.register_name("adder", worker);
  worker = {};
  EXPECT_TRUE(names.whereis("adder").alive());
  const auto ended = names.whereis("adder").ended();
  EXPECT_TRUE(names.unregister("adder"));
  EXPECT_EQ(ended.get(), ExitReason::shutdown());  // nobody can reach it any more
}

TEST_F(Names, go_with_their_registry_and_leave_the_actor) {
  auto brief = std::make_unique<ActorRegistry>();
  brief->register_name("adder", worker);
  brief.reset();
  EXPECT_TRUE(worker.alive());
  static_cast<void>(worker.stop());
  executor->run_all();
  EXPECT_FALSE(worker.alive());
}

}  // namespace
}  // namespace stoker
