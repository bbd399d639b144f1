#include "stoker/actors/process_actor.hpp"

#include <gtest/gtest.h>

#include <latch>

#include "probe.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

struct Add {
  int value = 0;
};
struct Total {};
struct Finish {};

using Counter = ProcessRef<Add, Request<Total, int>, Finish>;

template <class Self> void count(Self& self) {
  int total = 0;
  bool done = false;
  while (!done)
    self.receive([&](Add add) { total += add.value; },
                 [&](Request<Total, int> ask) { ask.reply(total); }, [&](Finish) { done = true; });
}

static_assert(Handles<ProcessActor<Add>, Add>);
static_assert(!Handles<ProcessActor<Add>, Total>, "what it cannot be sent does not compile");
static_assert(Answers<ProcessActor<Request<Total, int>>, Total>);
static_assert(!Answers<ProcessActor<Add>, Add>, "a plain message is not a call");

class Processes : public Probes {
 protected:
  [[nodiscard]] Counter counter() {
    return spawn_process<Add, Request<Total, int>, Finish>(executor, {.name = "counter"},
                                                           [](auto& self) { count(self); });
  }
};

TEST_F(Processes, receive_what_they_are_sent) {
  const auto process = counter();
  EXPECT_TRUE(process.cast(Add{2}));
  EXPECT_TRUE(process.cast(Add{3}));
  const auto total = process.call(Total{});
  executor->run_all();
  EXPECT_EQ(total.get(), 5);
}

TEST_F(Processes, end_normally_when_their_function_returns) {
  const auto process = counter();
  EXPECT_TRUE(process.cast(Finish{}));
  executor->run_all();
  EXPECT_FALSE(process.alive());
  EXPECT_EQ(process.ended().get(), ExitReason::normal());
}

TEST_F(Processes, end_with_what_their_function_throws) {
  const auto process = spawn_process<Add>(executor, {.name = "thrower"}, [](auto& self) {
    self.receive([](Add) { throw std::runtime_error{"on purpose"}; });
  });
  EXPECT_TRUE(process.cast(Add{}));
  executor->run_all();
  const ExitReason why = process.ended().get();
  ASSERT_NE(why.error(), nullptr);
  EXPECT_NE(why.to_string().find("on purpose"), std::string::npos);
}

TEST_F(Processes, take_the_first_message_that_a_clause_takes_and_leave_the_others) {
  std::vector<int> taken;
  const auto process = spawn_process<Add, Finish>(executor, {.name = "picky"}, [&](auto& self) {
    self.receive([&](Finish) { taken.push_back(-1); });
    for (int i = 0; i < 2; ++i)
      self.receive(when([](const Add& add) { return add.value % 2 == 0; },
                        [&](Add add) { taken.push_back(add.value); }));
    for (int i = 0; i < 2; ++i) self.receive([&](Add add) { taken.push_back(add.value); });
  });
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(process.cast(Add{i}));
  EXPECT_TRUE(process.cast(Finish{}));
  executor->run_all();
  EXPECT_EQ(taken, (std::vector{-1, 2, 4, 1, 3}));
  EXPECT_FALSE(process.alive());
}

TEST_F(Processes, hold_what_they_do_not_take_against_their_capacity) {
  const auto process = spawn_process<Add, Finish>(executor, {.name = "full", .capacity = 2},
                                                  [](auto& self) { self.receive([](Finish) {}); });
  executor->run_all();
  EXPECT_TRUE(process.cast(Add{1}));
  EXPECT_TRUE(process.cast(Add{2}));
  executor->run_all();
  EXPECT_EQ(process.cast(Add{3}).error().code(), ErrorCode::overloaded);
}

TEST_F(Processes, run_the_after_clause_when_nothing_came_in_time) {
  std::vector<std::string> seen;
  const auto process = spawn_process<Add>(executor, {.name = "waiting"}, [&](auto& self) {
    for (int i = 0; i < 3; ++i)
      seen.push_back(self.receive([](Add) { return std::string{"add"}; },
                                  after(10s, [] { return std::string{"late"}; })));
  });
  executor->run_all();
  clock.advance(9s);
  EXPECT_TRUE(process.cast(Add{}));
  executor->run_all();
  clock.advance(9s);
  executor->run_all();
  EXPECT_EQ(seen, (std::vector<std::string>{"add"})) << "each receive has its own time";
  clock.advance(1s);
  executor->run_all();
  clock.advance(10s);
  executor->run_all();
  EXPECT_EQ(seen, (std::vector<std::string>{"add", "late", "late"}));
}

TEST_F(Processes, look_once_with_a_time_of_zero) {
  int taken = 0;
  int missed = 0;
  const auto process = spawn_process<Add>(executor, {.name = "polling"}, [&](auto& self) {
    for (int i = 0; i < 3; ++i) self.receive([&](Add) { ++taken; }, after(0s, [&] { ++missed; }));
  });
  EXPECT_TRUE(process.cast(Add{}));
  executor->run_all();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(missed, 2);
}

TEST_F(Processes, wait_for_futures_without_holding_their_thread) {
  Promise<int> promise;
  int got = 0;
  const auto process = spawn_process<Add>(executor, {.name = "waiter"},
                                          [&](auto&) { got = promise.future().get(); });
  EXPECT_GT(executor->run_all(), 0U);
  EXPECT_EQ(got, 0);
  promise.set(4);
  executor->run_all();
  EXPECT_EQ(got, 4);
  EXPECT_FALSE(process.alive());
}

TEST_F(Processes, may_answer_a_request_later_or_have_others_answer_it) {
  const auto process = spawn_process<Request<Total, int>>(
      executor, {.name = "later"}, [other = counter()](auto& self) {
        std::optional<Request<Total, int>> kept;
        self.receive([&](Request<Total, int> ask) { kept = std::move(ask); });
        self.receive([&](Request<Total, int> ask) { ask.reply_with(other.call(Total{})); });
        kept->reply(9);
      });
  const auto first = process.call(Total{});
  executor->run_all();
  EXPECT_FALSE(first.ready());
  const auto second = process.call(Total{});
  executor->run_all();
  EXPECT_EQ(first.get(), 9);
  EXPECT_EQ(second.get(), 0);
}

TEST_F(Processes, answer_a_caller_with_an_error_when_they_end_with_his_request) {
  const auto process =
      spawn_process<Request<Total, int>>(executor, {.name = "thrower"}, [](auto& self) {
        self.receive([](const Request<Total, int>&) { throw std::runtime_error{"on purpose"}; });
      });
  const auto taken = process.call(Total{});
  const auto queued = process.call(Total{});
  executor->run_all();
  EXPECT_EQ(taken.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(queued.wait().error().code(), ErrorCode::closed);
}

// --- exits ---------------------------------------------------------------------------------------

/// Says that it was destroyed.
struct Held {
  explicit Held(bool& gone) : gone_{&gone} {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { *gone_ = true; }
  bool* gone_;
};

TEST_F(Processes, are_unwound_by_an_exit_signal_before_anybody_hears_of_the_end) {
  bool gone = false;
  const auto process = spawn_process<Add>(executor, {.name = "holder"}, [&](auto& self) {
    const Held held{gone};
    self.receive([](Add) {});
  });
  bool gone_when_told = false;
  in(a, [&](Probe& self) { self.monitor(process); });
  process.exit(ExitReason::shutdown());
  const auto ended = process.ended().then(*executor, [&](const auto&) { gone_when_told = gone; });
  executor->run_all();
  EXPECT_TRUE(gone_when_told);
  ASSERT_EQ(of_a.downs.size(), 1U);
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::shutdown());
}

TEST_F(Processes, are_ended_by_stop_after_what_was_sent_before) {
  int total = 0;
  const auto process = spawn_process<Add>(executor, {.name = "adder"}, [&](auto& self) {
    for (;;) self.receive([&](Add add) { total += add.value; });
  });
  EXPECT_TRUE(process.cast(Add{1}));
  EXPECT_TRUE(process.cast(Add{2}));
  const auto ended = process.stop();
  EXPECT_TRUE(process.cast(Add{4}));
  executor->run_all();
  EXPECT_EQ(ended.get(), ExitReason::normal());
  EXPECT_EQ(total, 3);
}

TEST_F(Processes, that_wait_for_something_else_end_at_their_next_receive) {
  Promise<void> promise;
  bool came_out = false;
  const auto process = spawn_process<Add>(executor, {.name = "busy"}, [&](auto& self) {
    static_cast<void>(promise.future().wait());
    came_out = true;
    self.receive([](Add) {});
    ADD_FAILURE() << "received after the exit signal";
  });
  executor->run_all();
  process.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_TRUE(process.alive()) << "it cannot be stopped there";
  promise.set();
  executor->run_all();
  EXPECT_TRUE(came_out);
  EXPECT_EQ(process.ended().get(), ExitReason::shutdown());
}

TEST_F(Processes, that_cannot_be_stopped_are_muted_by_kill) {
  Promise<void> promise;
  bool gone = false;
  bool unreachable = false;
  const auto process = spawn_process<Add>(executor, {.name = "stuck"}, [&](auto& self) {
    const Held held{gone};
    static_cast<void>(promise.future().wait());
    try {
      static_cast<void>(self.self());
    } catch (const ExitNow&) {
      unreachable = true;
      throw;
    }
  });
  executor->run_all();
  in(a, [&](Probe& self) { self.monitor(process); });
  process.exit(ExitReason::kill());
  executor->run_all();
  ASSERT_EQ(of_a.downs.size(), 1U) << "watchers hear at once";
  EXPECT_EQ(of_a.downs[0].reason, ExitReason::killed());
  EXPECT_FALSE(gone);
  promise.set();
  executor->run_all();
  EXPECT_TRUE(unreachable);
  EXPECT_TRUE(gone) << "what it held is freed when it comes out";
}

TEST_F(Processes, end_with_what_they_are_linked_to) {
  const auto process = spawn_process<Add>(executor, {.name = "linked"}, [this](auto& self) {
    self.link(a);
    self.receive([](Add) {});
  });
  executor->run_all();
  crash(a);
  EXPECT_FALSE(process.alive());
  EXPECT_NE(process.ended().get().error(), nullptr);
}

TEST_F(Processes, that_trap_exits_receive_them) {
  std::vector<std::string> seen;
  const auto process = spawn_process<Add>(executor, {.name = "trapping"}, [&](auto& self) {
    self.trap_exit();
    self.link(a);
    static_cast<void>(self.monitor(b));
    for (int i = 0; i < 2; ++i)
      self.receive([&](const Exit& exit) { seen.push_back("exit " + exit.reason.to_string()); },
                   [&](const Down& down) { seen.push_back("down " + down.reason.to_string()); });
  });
  executor->run_all();
  in(a, [](Probe& self) { self.exit(ExitReason::shutdown("a")); });
  in(b, [](Probe& self) { self.exit(ExitReason::normal()); });
  EXPECT_EQ(seen, (std::vector<std::string>{"exit {shutdown, a}", "down normal"}));
  EXPECT_FALSE(process.alive());
}

TEST_F(Processes, that_trap_exits_receive_as_many_as_a_turn_delivers) {
  const int turn = executor->turn_budget();
  for (const int exits : {turn - 1, turn, 2 * turn}) {
    int received = 0;
    const auto process = spawn_process<Add>(executor, {.name = "trapping"}, [&](auto& self) {
      self.trap_exit();
      for (;;) self.receive([&](const Exit&) { ++received; });
    });
    executor->run_all();
    for (int i = 0; i < exits; ++i) process.exit(ExitReason::shutdown());
    executor->run_all();
    EXPECT_EQ(received, exits);
  }
}

TEST_F(Processes, end_when_nobody_can_send_what_they_wait_for) {
  bool gone = false;
  {
    const auto process = spawn_process<Add>(executor, {.name = "forgotten"}, [&](auto& self) {
      const Held held{gone};
      self.receive([](Add) {});
    });
    executor->run_all();
    EXPECT_FALSE(gone);
  }
  executor->run_all();
  EXPECT_TRUE(gone);
}

TEST_F(Processes, go_on_unreachable_while_there_is_something_to_do) {
  bool done = false;
  static_cast<void>(spawn_process<Add>(executor, {.name = "working"}, [&](auto& self) {
    self.receive([](Add) {}, after(1h, [&] { done = true; }));
  }));
  executor->run_all();
  clock.advance(1h);
  executor->run_all();
  EXPECT_TRUE(done);
}

TEST_F(Processes, spawn_what_is_linked_to_them_from_its_beginning) {
  ActorAddress actor;
  ActorAddress child;
  const auto parent = spawn_process<Add>(executor, {.name = "parent"}, [&](auto& self) {
    actor = self.template spawn_link<Probe>({.name = "linked actor"}, of_a);
    child = self.template spawn_process_link<Add>({.name = "linked process"},
                                                  [](auto& own) { own.receive([](Add) {}); });
    self.receive([](Add) { throw std::runtime_error{"on purpose"}; });
  });
  executor->run_all();
  EXPECT_TRUE(child.alive());
  EXPECT_TRUE(parent.cast(Add{}));
  executor->run_all();
  EXPECT_FALSE(actor.alive());
  EXPECT_FALSE(child.alive());
  EXPECT_NE(child.ended().get().error(), nullptr);
}

TEST_F(Processes, spawned_with_a_link_take_their_actor_along_when_they_fail_at_once) {
  in(a, [](Probe& self) {
    static_cast<void>(spawn_process_link<Add>(self.self(), {.name = "short-lived"}, [](auto&) {
      throw std::runtime_error{"on purpose"};
    }));
  });
  EXPECT_FALSE(a.alive());
}

TEST_F(Processes, that_always_find_a_message_hear_of_exit_signals_and_let_others_run) {
  constexpr int most = 1'000'000;
  int received = 0;
  const auto process = spawn_process<Add>(executor, {.name = "busy"}, [&](auto& self) {
    while (received < most)
      self.receive([&](Add add) {
        ++received;
        self.self().cast(add).value();
      });
  });
  EXPECT_TRUE(process.cast(Add{}));
  EXPECT_TRUE(a.cast(1));
  while (of_a.notes.empty()) executor->run_one();
  EXPECT_LE(received, executor->turn_budget()) << "then others have their turn";
  process.exit(ExitReason::shutdown());
  executor->run_all();
  EXPECT_EQ(process.ended().get(), ExitReason::shutdown());
  EXPECT_LT(received, most);
}

constexpr std::size_t no_such_stack = std::size_t{1} << 47U;

TEST(ProcessesWithoutAStack, leave_nothing_behind_when_they_cannot_be_spawned) {
  ManualClock clock;
  std::weak_ptr<Executor> left;
  {
    const auto executor = std::make_shared<ManualExecutor>(clock);
    left = executor;
    const auto captured = std::make_shared<int>();
    EXPECT_THROW(static_cast<void>(
                     spawn_process<Add>(executor, {.name = "too big", .stack_bytes = no_such_stack},
                                        [captured](auto& self) { self.receive([](Add) {}); })),
                 std::bad_alloc);
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_EQ(executor->live_processes(), 0U);
  }
  EXPECT_TRUE(left.expired());
}

TEST_F(Processes, that_cannot_be_spawned_do_not_end_whom_they_were_to_be_linked_to) {
  bool refused = false;
  in(a, [&](Probe& self) {
    try {
      static_cast<void>(spawn_process_link<Add>(
          self.self(), {.name = "too big", .stack_bytes = no_such_stack}, [](auto&) {}));
    } catch (const std::bad_alloc&) {
      refused = true;
    }
  });
  EXPECT_TRUE(refused);
  EXPECT_TRUE(a.alive());
}

// --- on threads ----------------------------------------------------------------------------------

TEST(ProcessesOnThreads, lose_no_message_and_no_answer) {
  const std::shared_ptr<Executor> pool =
      make_thread_pool(std::make_shared<SystemClock>(), {.threads = 4});
  constexpr int senders = 4;
  constexpr int messages = 2000;
  const auto sum = spawn_process<Add, Request<Total, int>>(
      pool, {.name = "sum", .capacity = 16, .overflow = OverflowRule::park}, [](auto& self) {
        int total = 0;
        for (int received = 0; received < senders * messages; ++received)
          self.receive([&](Add add) { total += add.value; });
        self.receive([&](Request<Total, int> ask) { ask.reply(total); });
      });
  std::vector<Future<void>> sent;
  for (int i = 0; i < senders; ++i)
    sent.push_back(Process::spawn(*pool, [&] {
      for (int n = 0; n < messages; ++n) sum.cast(Add{1}).value();
    }));
  const int total = Process::spawn(*pool, [&] { return sum.call(Total{}).get(); }).get();
  for (const auto& one : sent) one.wait();
  EXPECT_EQ(total, senders * messages);
}

TEST(ProcessesOnThreads, may_be_killed_at_any_moment) {
  const std::shared_ptr<Executor> pool =
      make_thread_pool(std::make_shared<SystemClock>(), {.threads = 4});
  for (int round = 0; round < 300; ++round) {
    const auto process =
        spawn_process<Add, Request<Total, int>>(pool, {.name = "victim"}, [](auto& self) {
          for (int total = 0;;)
            self.receive([&](Add add) { total += add.value; },
                         [&](Request<Total, int> ask) { ask.reply(total); }, after(5us, [] {}));
        });
    const auto answer = process.call(Total{});
    static_cast<void>(process.cast(Add{1}));
    process.exit(round % 2 ? ExitReason::kill() : ExitReason::shutdown());
    const ExitReason why = process.ended().get();
    EXPECT_EQ(why, round % 2 ? ExitReason::killed() : ExitReason::shutdown());
    static_cast<void>(answer.wait());
  }
}

}  // namespace
}  // namespace stoker
