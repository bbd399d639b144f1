// Calls with a time limit, answers that come later or from somebody else, and mailboxes that are full.
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "stoker/actors/process_actor.hpp"
#include "stoker/runtime/asio/future_asio.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

struct Ask {
  int value = 0;
};
struct AskLater {};
struct Note {
  int number = 0;
};

/// Answers at once, or when it is told.
class Oracle final : public Actor {
 public:
  int on(Ask ask) { return ask.value * 2; }
  Future<int> on(AskLater) {
    waiting.emplace_back();
    return waiting.back().future();
  }
  void on(Note note) { notes.push_back(note.number); }

  std::vector<Promise<int>> waiting;
  std::vector<int> notes;
};

/// Has the oracle answer in its place.
class Clerk final : public Actor {
 public:
  explicit Clerk(ActorRef<Oracle> oracle) : oracle_{std::move(oracle)} {}
  Future<int> on(Ask ask) { return forward(oracle_, ask); }
  Future<int> on(AskLater later) { return forward(oracle_, later); }

 private:
  ActorRef<Oracle> oracle_;
};

struct Walk {
  int hops = 0;
};
/// Forwards to itself until it has arrived, and answers when it is told.
class Walker final : public Actor {
 public:
  Future<int> on(Walk walk) {
    if (walk.hops > 0) return forward(self<Walker>(), Walk{walk.hops - 1});
    return arrived.emplace_back().future();
  }

  std::vector<Promise<int>> arrived;
};

class Calls : public testing::Test {
 protected:
  void TearDown() override { executor->run_all(); }

  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  ActorRef<Oracle> oracle = spawn<Oracle>(executor, {.name = "oracle", .capacity = 2});
  ActorRef<Clerk> clerk = spawn<Clerk>(executor, {.name = "clerk"}, oracle);
};

TEST_F(Calls, are_answered_with_an_error_when_the_time_is_over) {
  const auto answer = oracle.call(Ask{1}, {.timeout = 5s});
  clock.advance(4s);
  EXPECT_FALSE(answer.ready());
  clock.advance(1s);
  ASSERT_TRUE(answer.ready());
  EXPECT_EQ(answer.poll()->error().code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(answer.poll()->error().detail("actor"), "oracle");
}

TEST_F(Calls, drop_an_answer_that_comes_too_late) {
  const auto answer = oracle.call(AskLater{}, {.timeout = 1s});
  executor->run_all();
  clock.advance(1s);
  oracle.get()->waiting.front().set(7);
  EXPECT_EQ(answer.poll()->error().code(), ErrorCode::deadline_exceeded);
}

TEST_F(Calls, forget_their_time_limit_when_they_are_answered) {
  const auto answer = oracle.call(Ask{2}, {.timeout = 1s});
  executor->run_all();
  EXPECT_EQ(clock.next_due(), Clock::time_point::max());
  EXPECT_EQ(answer.get(), 4);
}

TEST_F(Calls, may_be_answered_after_the_handler_has_returned) {
  const auto answer = oracle.call(AskLater{});
  executor->run_all();
  EXPECT_FALSE(answer.ready());
  oracle.get()->waiting.front().set(3);
  EXPECT_EQ(answer.get(), 3);
}

TEST_F(Calls, that_are_forwarded_are_answered_by_the_other_actor) {
  const auto answer = clerk.call(Ask{5});
  executor->run_all();
  EXPECT_EQ(answer.get(), 10);
}

TEST_F(Calls, that_were_forwarded_outlive_the_forwarder) {
  const auto answer = clerk.call(AskLater{});
  executor->run_all();
  clerk.exit(ExitReason::kill());
  executor->run_all();
  EXPECT_FALSE(clerk.alive());
  oracle.get()->waiting.front().set(6);
  EXPECT_EQ(answer.get(), 6);
}

TEST_F(Calls, may_be_forwarded_any_number_of_times) {
  const auto walker = spawn<Walker>(executor, {.name = "walker"});
  const auto answer = walker.call(Walk{200'000});
  executor->run_all();
  walker.get()->arrived.front().set(7);
  EXPECT_EQ(answer.get(), 7);
}

TEST_F(Calls, keep_the_clock_of_their_time_limit_until_they_are_answered) {
  const auto own = std::make_shared<ManualClock>();
  std::weak_ptr<ManualExecutor> weak;
  Future<int> answer;
  {
    const auto passing = std::make_shared<ManualExecutor>(*own);
    weak = passing;
    const auto clerk = spawn<Clerk>(passing, {.name = "clerk"}, oracle);
    answer = clerk.call(AskLater{}, {.timeout = 1h});
    passing->run_all();
  }
  executor->run_all();
  EXPECT_EQ(weak.use_count(), 1);
  oracle.get()->waiting.front().set(3);
  EXPECT_EQ(answer.get(), 3);
  // The limit goes where its executor may go with it.
  if (const auto passing = weak.lock()) passing->run_all();
  EXPECT_TRUE(weak.expired());
}

TEST_F(Calls, fail_when_the_target_dies_with_the_answer_open) {
  const auto answer = oracle.call(AskLater{});
  executor->run_all();
  oracle.exit(ExitReason::kill());
  executor->run_all();
  ASSERT_TRUE(answer.ready());
  EXPECT_EQ(answer.poll()->error().code(), ErrorCode::closed);
}

TEST_F(Calls, can_be_awaited_in_a_hosts_coroutine) {
  boost::asio::io_context host;
  auto doubled = boost::asio::co_spawn(
      host,
      [this]() -> boost::asio::awaitable<int> {
        co_return co_await async_get(oracle.call(Ask{21})) + 0;
      },
      boost::asio::use_future);
  host.poll();  // the coroutine asks
  executor->run_all();
  host.restart();
  host.run();
  EXPECT_EQ(doubled.get(), 42);
}

// --- full mailboxes ------------------------------------------------------------------------------

TEST_F(Calls, are_refused_by_a_full_mailbox) {
  EXPECT_TRUE(oracle.cast(Note{1}));
  EXPECT_TRUE(oracle.cast(Note{2}));
  const auto answer = oracle.call(Ask{1});
  ASSERT_TRUE(answer.ready());
  EXPECT_EQ(answer.poll()->error().code(), ErrorCode::overloaded);
  EXPECT_EQ(answer.poll()->error().detail("capacity"), "2");
}

TEST_F(Calls, drop_oldest_tells_the_caller_whose_message_was_dropped) {
  const auto latest = spawn<Oracle>(
      executor, {.name = "latest", .capacity = 2, .overflow = OverflowRule::drop_oldest});
  const auto first = latest.call(Ask{1});
  EXPECT_TRUE(latest.cast(Note{2}));
  EXPECT_TRUE(latest.cast(Note{3}));
  executor->run_all();
  EXPECT_EQ(first.poll()->error().code(), ErrorCode::overloaded);
  EXPECT_EQ(latest.get()->notes, (std::vector{2, 3}));
}

TEST_F(Calls, drop_oldest_refuses_the_newest_while_nobody_can_drop) {
  const auto busy = spawn<Oracle>(
      executor, {.name = "busy", .capacity = 2, .overflow = OverflowRule::drop_oldest});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(busy.cast(Note{i}));
  EXPECT_EQ(busy.cast(Note{4}).error().code(), ErrorCode::overloaded)
      << "a mailbox's memory is bounded also while its actor's handler does not return";
  executor->run_all();
  EXPECT_EQ(busy.get()->notes, (std::vector{2, 3}));
}

/// Is told of ends, exits and answers.
class Told final : public Actor {
 public:
  void on(Note) { ++notes; }
  void on(const std::pair<ActorAddress, Future<int>>& what) {
    trap_exit();
    monitor(what.first);
    link(what.first);
    then(what.second, [this](const Result<int>&) { ++answers; });
  }
  int notes = 0;
  int answers = 0;
  int downs = 0;
  int exits = 0;

 private:
  void on_down(const Down&) override { ++downs; }
  void on_exit(const Exit&) override { ++exits; }
};

TEST_F(Calls, drop_oldest_drops_messages_and_nothing_that_may_not_be_lost) {
  const auto told =
      spawn<Told>(executor, {.name = "told", .capacity = 2, .overflow = OverflowRule::drop_oldest});
  Promise<int> promise;
  ASSERT_TRUE(told.cast(std::pair{ActorAddress{oracle}, promise.future()}));
  executor->run_all();
  promise.set(1);
  ASSERT_TRUE(oracle.stop().valid());
  executor->run_one(oracle.strand()->task());
  const Told& seen = *told.get();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(told.cast(Note{i})) << "it has all of its places";
  executor->run_all();
  EXPECT_EQ(seen.notes, 2);
  EXPECT_EQ(seen.answers, 1);
  EXPECT_EQ(seen.downs, 1);
  EXPECT_EQ(seen.exits, 1);

  const auto stopped = told.stop();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(told.cast(Note{i}));
  executor->run_all();
  ASSERT_TRUE(stopped.ready());
  EXPECT_EQ(stopped.get(), ExitReason::normal());
}

TEST_F(Calls, park_makes_a_process_wait_for_space_and_keeps_its_order) {
  const auto patient =
      spawn<Oracle>(executor, {.name = "patient", .capacity = 2, .overflow = OverflowRule::park});
  const auto sent = Process::spawn(*executor, [&] {
    for (int i = 0; i < 10; ++i) patient.cast(Note{i}).value();
  });
  executor->run_all();
  EXPECT_TRUE(sent.ready());
  EXPECT_EQ(patient.get()->notes, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Calls, park_refuses_a_plain_thread) {
  const auto patient =
      spawn<Oracle>(executor, {.name = "patient", .capacity = 1, .overflow = OverflowRule::park});
  EXPECT_TRUE(patient.cast(Note{1}));
  EXPECT_EQ(patient.cast(Note{2}).error().code(), ErrorCode::overloaded);
}

TEST_F(Calls, park_waits_no_longer_than_the_call_may_take) {
  const auto busy = spawn_process<Note, Request<Ask, int>>(
      executor, {.name = "busy", .capacity = 1, .overflow = OverflowRule::park},
      [](auto& self) { self.sleep_for(1h); });
  EXPECT_TRUE(busy.cast(Note{}));
  const auto called =
      Process::spawn(*executor, [&] { return busy.call(Ask{}, {.timeout = 1s}).get(); });
  executor->run_all();
  EXPECT_FALSE(called.ready()) << "it waits for space";
  clock.advance(1s);
  executor->run_all();
  ASSERT_TRUE(called.ready());
  EXPECT_EQ(called.poll()->error().code(), ErrorCode::deadline_exceeded);
  clock.advance(1h);
}

TEST_F(Calls, park_lets_go_of_a_process_that_is_told_to_end) {
  using Sender = ProcessRef<Note>;
  Promise<std::pair<Sender, Sender>> made;
  std::optional<ErrorCode> refused;
  const auto body = [&, pair = made.future()](bool first) {
    return [&, pair, first](auto& self) {
      const auto both = pair.get();
      const Sender& other = first ? both.second : both.first;
      for (;;) {
        for (int i = 0; i < 3; ++i)
          if (const auto sent = other.cast(Note{i}); !sent) refused = sent.error().code();
        self.receive([](Note) {});
      }
    };
  };
  const ProcessActorOptions options{
      .name = "sender", .capacity = 1, .overflow = OverflowRule::park};
  const Sender a = spawn_process<Note>(executor, options, body(true));
  const Sender b = spawn_process<Note>(executor, options, body(false));
  made.set(std::pair{a, b});
  executor->run_all();
  ASSERT_FALSE(refused) << "they wait for each other";
  for (const Sender& one : {a, b}) {
    one.exit(ExitReason::shutdown());
    executor->run_all();
    ASSERT_FALSE(one.alive());
    EXPECT_EQ(one.ended().get(), ExitReason::shutdown());
  }
  EXPECT_EQ(refused, ErrorCode::overloaded);
}

TEST_F(Calls, park_refuses_a_sender_to_itself) {
  std::optional<ErrorCode> refused;
  const auto self_sender = spawn_process<Note>(
      executor, {.name = "self", .capacity = 1, .overflow = OverflowRule::park}, [&](auto& self) {
        self.self().cast(Note{}).value();
        if (const auto again = self.self().cast(Note{}); !again) refused = again.error().code();
      });
  executor->run_all();
  EXPECT_EQ(refused, ErrorCode::overloaded);
}

}  // namespace
}  // namespace stoker
