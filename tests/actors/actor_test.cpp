#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <latch>
#include <thread>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

struct Add {
  int value;
};
struct Total {};
struct Throw {};
struct Divide {
  int by;
};

class Counter : public Actor {
 public:
  void on(Add add) { total_ += add.value; }
  int on(Total) { return total_; }
  Result<int> on(Divide divide) {
    if (divide.by == 0) return Error{"divide", ErrorCode::invalid_argument, "by zero"};
    return total_ / divide.by;
  }
  void on(Throw) { throw std::runtime_error{"on purpose"}; }

 private:
  int total_ = 0;
};

static_assert(Handles<Counter, Add>);
static_assert(!Handles<Counter, std::string>, "a message the target cannot take does not compile");

class Actors : public testing::Test {
 protected:
  // A strand that has work lives until its executor runs it.
  void TearDown() override { executor->run_all(); }

  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  ActorRef<Counter> counter = spawn<Counter>(executor, {.name = "counter", .capacity = 4});
};

TEST_F(Actors, run_nothing_before_their_executor_does) {
  EXPECT_TRUE(counter.cast(Add{2}));
  const auto total = counter.call(Total{});
  EXPECT_FALSE(total.ready());
  executor->run_all();
  EXPECT_EQ(total.get(), 2);
}

struct Early final : Actor {
  explicit Early(const Future<int>& future) {
    then(future, [](const Result<int>&) {});
  }
};
struct Mistaken final : Actor {
  void on(int) { static_cast<void>(self<Counter>()); }
};

TEST_F(Actors, refuse_to_continue_what_their_constructor_began) {
  try {
    static_cast<void>(spawn<Early>(executor, {}, make_ready_future<int>(1)));
    FAIL() << "it has no address yet";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

TEST_F(Actors, do_not_take_themselves_for_another_class) {
  const auto mistaken = spawn<Mistaken>(executor, {.name = "mistaken"});
  const auto ended = mistaken.ended();
  EXPECT_TRUE(mistaken.cast(1));
  executor->run_all();
  EXPECT_EQ(ended.get().error()->code(), ErrorCode::invalid_argument);
  EXPECT_EQ(ended.get().error()->detail("got"), "stoker::(anonymous namespace)::Mistaken");
}

TEST_F(Actors, may_run_on_the_senders_thread_when_idle) {
  EXPECT_TRUE(counter.cast(Add{3}, Run::here));
  EXPECT_EQ(counter.call(Total{}, Run::here).get(), 3);
  EXPECT_EQ(executor->ready(), 0U);
}

TEST_F(Actors, keep_the_order_of_a_sender) {
  struct Note {
    int value;
  };
  class Log : public Actor {
   public:
    void on(Note note) { seen.push_back(note.value); }
    std::vector<int> seen;
  };
  const auto log = spawn<Log>(executor, {.name = "log"});
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(log.cast(Note{i}));
  executor->run_all();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(log.get()->seen[static_cast<std::size_t>(i)], i);
}

TEST_F(Actors, refuse_messages_beyond_their_capacity) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(counter.cast(Add{1}));
  const auto refused = counter.cast(Add{1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::overloaded);
  EXPECT_EQ(refused.error().detail("capacity"), "4");
  EXPECT_EQ(counter.call(Total{}).wait().error().code(), ErrorCode::overloaded);
  executor->run_all();
  EXPECT_EQ(counter.call(Total{}, Run::here).get(), 4);
}

TEST_F(Actors, answer_a_call_with_the_handlers_error) {
  const auto answer = counter.call(Divide{0}, Run::here);
  EXPECT_EQ(answer.wait().error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(counter.alive());
}

TEST_F(Actors, end_when_a_handler_throws_and_nobody_else_does) {
  const auto other = spawn<Counter>(executor, {.name = "other"});
  EXPECT_TRUE(counter.cast(Add{1}));
  const auto broken = counter.call(Throw{});
  const auto behind = counter.call(Total{});
  executor->run_all();
  EXPECT_EQ(broken.wait().error().reason(), "on purpose");
  EXPECT_EQ(behind.wait().error().code(), ErrorCode::closed);
  EXPECT_FALSE(counter.alive());
  const auto why = counter.ended().get();
  ASSERT_EQ(why.kind(), ExitReason::Kind::error);
  EXPECT_EQ(why.error()->reason(), "on purpose");
  EXPECT_EQ(other.call(Total{}, Run::here).get(), 0);
}

TEST_F(Actors, stop_after_the_messages_sent_before) {
  EXPECT_TRUE(counter.cast(Add{5}));
  const auto before = counter.call(Total{});
  const auto stopped = counter.stop();
  const auto after = counter.call(Total{});
  executor->run_all();
  EXPECT_EQ(before.get(), 5);
  EXPECT_EQ(stopped.get(), ExitReason::normal());
  EXPECT_EQ(after.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(after.wait().error().detail("exit_reason"), "normal");
  EXPECT_EQ(counter.stop().get(), ExitReason::normal());
}

/// Goes on when the counter has answered.
class Reader final : public Actor {
 public:
  explicit Reader(ActorRef<Counter> counter) : counter_{std::move(counter)} {}
  void on(Total) {
    then(counter_.call(Total{}), [this](const Result<int>& total) { read = total ? *total : -1; });
  }
  void on(Throw) {
    then(counter_.call(Throw{}), [](const Result<void>& none) { none.value(); });
  }
  int read = 0;

 private:
  ActorRef<Counter> counter_;
};

TEST_F(Actors, go_on_in_a_turn_of_their_own_when_an_answer_comes) {
  const auto reader = spawn<Reader>(executor, {.name = "reader"}, counter);
  ASSERT_TRUE(counter.cast(Add{5}));
  ASSERT_TRUE(reader.cast(Total{}));
  executor->run_all();
  EXPECT_EQ(reader.get()->read, 5);
  ASSERT_TRUE(reader.cast(Throw{}));
  executor->run_all();
  EXPECT_FALSE(reader.alive()) << "what the continuation throws ends the actor";
}

/// Uses its address too early.
class Hasty final : public Actor {
 public:
  Hasty() { trap_exit(); }
};

TEST_F(Actors, refuse_to_be_used_as_an_address_in_their_constructor) {
  EXPECT_THROW(static_cast<void>(spawn<Hasty>(executor, {.name = "hasty"})), Error);
}

TEST_F(Actors, take_turns_so_that_a_flood_starves_nobody) {
  const auto flooded = spawn<Counter>(executor, {.name = "flooded", .capacity = 1000});
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(flooded.cast(Add{1}));
  const auto quick = counter.call(Total{});
  // One turn of the flooded actor, one of the other.
  executor->run_one();
  executor->run_one();
  EXPECT_TRUE(quick.ready());
  EXPECT_GT(flooded.strand()->depth(), 0U);
  executor->run_all();
}

TEST_F(Actors, take_turns_as_long_as_their_executor_says) {
  for (const int budget : {256, 1000, 0}) {
    executor->set_turn_budget(budget);
    const auto patient = spawn<Counter>(executor, {.name = "patient"});
    for (int i = 0; i < 1001; ++i) EXPECT_TRUE(patient.cast(Add{1}));
    EXPECT_TRUE(executor->run_one());
    EXPECT_EQ(patient.strand()->depth(), 1001U - std::max(budget, 1));
    executor->run_all(2000);
    EXPECT_EQ(patient.strand()->depth(), 0U);
  }
}

/// Holds the only address of the next one.
class Chained final : public Actor {
 public:
  Chained(ActorRef<Chained> next, int& ended) : next_{std::move(next)}, ended_{&ended} {}
  ~Chained() override { ++*ended_; }
  void on(Add) {}

 private:
  ActorRef<Chained> next_;
  int* ended_;
};

TEST_F(Actors, of_a_long_chain_end_on_a_small_stack) {
  constexpr int length = 5000;
  int ended = 0;
  const auto let_go = Process::spawn(*executor, [&] {
    ActorRef<Chained> first;
    for (int i = 0; i < length; ++i)
      first = spawn<Chained>(executor, {.name = "link"}, std::move(first), ended);
    first = {};
    return ended;
  });
  executor->run_all();
  EXPECT_EQ(let_go.get(), length);
}

TEST_F(Actors, that_share_a_strand_never_overlap) {
  const auto strand = std::make_shared<Strand>(executor, 100);
  const auto first = adopt_actor(std::make_shared<Counter>(), strand, "first");
  const auto second = adopt_actor(std::make_shared<Counter>(), strand, "second");
  EXPECT_TRUE(first.cast(Add{1}));
  EXPECT_TRUE(second.cast(Add{2}));
  EXPECT_EQ(executor->ready(), 1U);  // one turn serves both
  executor->run_all();
  EXPECT_EQ(first.call(Total{}, Run::here).get(), 1);
  EXPECT_EQ(second.call(Total{}, Run::here).get(), 2);
}

TEST(ActorsOnAPool, take_turns_so_that_a_flood_starves_nobody) {
  const auto pool = make_thread_pool(std::make_shared<SystemClock>(), {1, "test"});
  struct Tell {
    std::function<void()> what;
  };
  class Telling final : public Actor {
   public:
    void on(const Tell& tell) { tell.what(); }
  };
  std::latch all_sent{1};
  const auto gate = spawn<Telling>(pool, {.name = "gate"});
  ASSERT_TRUE(gate.cast(Tell{[&] { all_sent.wait(); }}));  // the only thread
  int handled = 0;
  const auto flooded = spawn<Telling>(pool, {.name = "flooded"});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(flooded.cast(Tell{[&] { ++handled; }}));
  int handled_before = -1;
  const auto other = spawn<Telling>(pool, {.name = "other"});
  ASSERT_TRUE(other.cast(Tell{[&] { handled_before = handled; }}));
  all_sent.count_down();
  other.stop().wait();
  EXPECT_LE(handled_before, pool->turn_budget());
  flooded.stop().wait();
  EXPECT_EQ(handled, 1000);
}

TEST(ActorsOnAPool, lose_no_message_of_many_senders) {
  const auto pool = make_thread_pool(std::make_shared<SystemClock>(), {2, "test"});
  const auto counter = spawn<Counter>(pool, {.name = "counter", .capacity = 1U << 20});
  {
    std::vector<std::jthread> senders;
    senders.reserve(4);
    for (int t = 0; t < 4; ++t)
      senders.emplace_back([&, t] {
        for (int i = 0; i < 5000; ++i)
          EXPECT_TRUE(counter.cast(Add{1}, (i + t) % 2 ? Run::here : Run::posted));
      });
  }
  EXPECT_EQ(counter.call(Total{}).get(), 20000);
}

TEST(ActorsOnAPool, are_called_from_processes_without_blocking_a_thread) {
  const auto pool = make_thread_pool(std::make_shared<SystemClock>(), {1, "test"});
  const auto counter = spawn<Counter>(pool, {.name = "counter"});
  // The only thread serves both: a blocked one would never answer itself.
  const auto answer = Process::spawn(*pool, [&] {
    EXPECT_TRUE(counter.cast(Add{7}, Run::here));
    return counter.call(Total{}, Run::here).get();
  });
  EXPECT_EQ(answer.get(), 7);
}

}  // namespace
}  // namespace stoker
