// An allocation that fails is an error of the call, or the end of the actor that made it, and nothing
// worse: each of these tests fails every allocation of what it does, one after the other.
#include <optional>

#include "failing_allocation.hpp"
#include "probe.hpp"
#include "stoker/actors/group.hpp"
#include "stoker/actors/registry.hpp"

namespace stoker {
namespace {

struct Total {};

class Victim final : public Actor {
 public:
  void on(const ExitReason& why) { leave(why); }
  int on(Total) { return 7; }
  void on(std::runtime_error error) { throw std::move(error); }
};

/// Victims that a probe watches and another is linked to.
class OutOfMemory : public Probes {
 protected:
  OutOfMemory() {
    in(b, [](Probe& me) { me.trap_exit(); });
  }
  /// Has one, calls `send` with it and runs its turn, in which the allocation `which` fails. False if
  /// there are not that many.
  template <class Send> bool ends_in_spite(std::size_t which, Send send) {
    of_a.downs.clear();
    of_b.exits.clear();
    const auto victim = spawn<Victim>(executor, {.name = "victim"});
    in(a, [&](Probe& me) { me.monitor(victim); });
    in(b, [&](Probe& me) { me.link(victim); });
    const auto ended = victim.ended();
    send(victim);
    bool failed = false;
    {
      const FailingAllocation failing{which};
      executor->run_one();
      failed = failing.failed();
    }
    executor->run_all();
    EXPECT_FALSE(victim.alive()) << "allocation " << which;
    EXPECT_TRUE(ended.ready()) << "allocation " << which;
    EXPECT_EQ(of_a.downs.size(), 1U) << "allocation " << which;
    EXPECT_EQ(of_b.exits.size(), 1U) << "allocation " << which;
    EXPECT_EQ(of_a.downs.at(0).name, "victim");
    return failed;
  }
};

TEST_F(OutOfMemory, does_not_keep_an_actor_from_ending_nor_from_being_noticed) {
  const auto end = [](const ActorRef<Victim>& victim) {
    EXPECT_TRUE(victim.cast(ExitReason::shutdown("enough")));
  };
  std::size_t which = 0;  // there may be none
  while (ends_in_spite(which, end)) ++which;
}

TEST_F(OutOfMemory, does_not_keep_an_actor_from_ending_with_its_executor) {
  bool failed = true;
  for (std::size_t which = 0; failed; ++which) {
    const auto own = std::make_shared<ManualExecutor>(clock);
    const auto victim = spawn<Victim>(own, {.name = "victim"});
    const auto ended = victim.ended();
    EXPECT_TRUE(victim.cast(ExitReason::normal()));
    {
      const FailingAllocation failing{which};
      own->drop_all();
      failed = failing.failed();
    }
    EXPECT_EQ(ended.get(), ExitReason::executor_gone()) << "allocation " << which;
  }
}

TEST_F(OutOfMemory, while_a_failure_is_described_is_the_reason) {
  std::size_t which = 0;
  while (ends_in_spite(which, [](const ActorRef<Victim>& victim) {
    EXPECT_TRUE(victim.cast(std::runtime_error{"a text that is too long for a short string"}));
  }))
    ++which;
  EXPECT_GT(which, 0U);
}

TEST_F(OutOfMemory, makes_a_call_throw_or_fail) {
  const auto victim = spawn<Victim>(executor, {.name = "victim"});
  bool failed = true;
  for (std::size_t which = 0; failed; ++which) {
    std::optional<Future<int>> answer;
    {
      const FailingAllocation failing{which};
      try {
        answer = victim.call(Total{}, {.timeout = std::chrono::seconds{1}});
      } catch (const std::bad_alloc&) {
      }
      executor->run_all();
      failed = failing.failed();
    }
    if (!answer) continue;
    ASSERT_TRUE(answer->ready()) << "allocation " << which;
    EXPECT_TRUE(answer->wait().has_value() ||
                answer->wait().error().code() == ErrorCode::out_of_memory);
  }
  EXPECT_TRUE(victim.alive());
}

TEST_F(OutOfMemory, makes_link_and_monitor_throw_with_nothing_changed) {
  bool failed = true;
  for (std::size_t which = 0; failed; ++which) {
    failed = false;
    of_a.downs.clear();
    const auto victim = spawn<Victim>(executor, {.name = "victim"});
    const auto try_to = [&](auto tie) {
      bool this_failed = false;
      in(a, [&](Probe& me) {
        const FailingAllocation failing{which};
        try {
          tie(me);
        } catch (const std::bad_alloc&) {
        }
        this_failed = failing.failed();
      });
      failed = failed || this_failed;
      return this_failed;
    };
    const bool monitored = !try_to([&](Probe& me) { me.monitor(victim); });
    const bool linked = !try_to([&](Probe& me) {
      me.trap_exit();
      me.link(victim);
    });
    of_a.exits.clear();
    victim.exit(ExitReason::shutdown());
    executor->run_all();
    EXPECT_EQ(of_a.downs.size(), monitored ? 1U : 0U) << "allocation " << which;
    EXPECT_EQ(of_a.exits.size(), linked ? 1U : 0U) << "allocation " << which;
  }
}

TEST_F(OutOfMemory, makes_join_and_register_throw_with_nothing_changed) {
  bool failed = true;
  for (std::size_t which = 0; failed; ++which) {
    const auto victim = spawn<Victim>(executor, {.name = "victim"});
    const ActorGroup<Victim> group;
    ActorRegistry names;
    const auto done = [&](auto call) {
      const FailingAllocation failing{which};
      bool through = false;
      try {
        call();
        through = true;
      } catch (const std::bad_alloc&) {
      }
      failed = failing.failed();
      return through;
    };
    const bool joined = done([&] { group.join(victim); });
    EXPECT_EQ(group.size(), joined ? 1U : 0U) << "allocation " << which;
    EXPECT_EQ(group.leave(victim), joined) << "allocation " << which;
    EXPECT_NO_THROW(group.join(victim)) << "again, allocation " << which;
    const bool join_failed = failed;
    const bool named =
        done([&] { names.register_name("a name of more than fifteen letters", victim); });
    EXPECT_EQ(names.list().size(), named ? 1U : 0U) << "allocation " << which;
    failed = failed || join_failed;
    victim.exit(ExitReason::shutdown());
    executor->run_all();
    EXPECT_EQ(group.size(), 0U);
    EXPECT_TRUE(names.list().empty());
  }
}

}  // namespace
}  // namespace stoker
