// An actor and its test. The actor collects items and sends them on in batches of three, or after a
// second. The test holds every message and the clock in its hands, so the rare orders are as easy to
// try as the common ones; then it tries a hundred random orders.
//
// It needs no test framework: expect() and forbid() throw. docs/testing.md walks through it.
#include <iostream>
#include <string>
#include <vector>

#include "stoker/api/actors.hpp"
#include "stoker/api/testing.hpp"

namespace {

using namespace std::chrono_literals;

// --- the actor -----------------------------------------------------------------------------------

struct Item {
  int value = 0;
};
struct TimeIsUp {};
struct Batch {
  std::vector<int> values;
};

/// Keeps what it gets.
class Sink final : public stoker::Actor {
 public:
  void on(Batch batch) { batches.push_back(std::move(batch.values)); }
  std::vector<std::vector<int>> batches;
};

class Batcher final : public stoker::Actor {
 public:
  explicit Batcher(stoker::ActorRef<Sink> sink) : sink_{std::move(sink)} {}

  void on(Item item) {
    if (values_.empty()) begin();
    values_.push_back(item.value);
    if (values_.size() == 3) send();
  }
  void on(TimeIsUp) {
    if (!values_.empty()) send();  // empty: the batch was full just before
  }

 private:
  void begin() {
    if (!watching_) monitor(sink_);
    watching_ = true;
    timer_ = stoker::cast_after(self<Batcher>(), 1s, TimeIsUp{});
  }
  void send() {
    timer_.cancel();
    static_cast<void>(sink_.cast(Batch{std::exchange(values_, {})}));
  }
  void on_down(const stoker::Down&) override { leave(stoker::ExitReason::shutdown("no sink")); }

  stoker::ActorRef<Sink> sink_;
  std::vector<int> values_;
  stoker::SendTimer timer_;
  bool watching_ = false;
};

// --- its test ------------------------------------------------------------------------------------

void check(bool holds, const std::string& what) {
  if (!holds) throw stoker::Error{"test", stoker::ErrorCode::internal, what};
}

struct Bench {
  explicit Bench(stoker::TestScheduler given = stoker::TestScheduler{})
      : scheduler{std::move(given)} {}

  stoker::TestScheduler scheduler;
  stoker::ActorRef<Sink> sink = stoker::spawn<Sink>(scheduler.executor(), {.name = "sink"});
  stoker::ActorRef<Batcher> batcher =
      stoker::spawn<Batcher>(scheduler.executor(), {.name = "batcher"}, sink);
};

void three_items_make_a_batch() {
  Bench bench;
  auto& [scheduler, sink, batcher] = bench;
  for (int i = 1; i <= 3; ++i) {
    scheduler.forbid<Batch>(sink);
    batcher.cast(Item{i}).value();
    scheduler.expect<Item>(batcher);
  }
  scheduler.expect<Batch>(sink);
  check(sink.get()->batches.at(0) == std::vector{1, 2, 3}, "the batch has all three");
}

void a_second_makes_a_batch_too() {
  Bench bench;
  auto& [scheduler, sink, batcher] = bench;
  batcher.cast(Item{1}).value();
  scheduler.expect<Item>(batcher);
  scheduler.advance(999ms);
  scheduler.forbid<TimeIsUp>(batcher);
  scheduler.advance(1ms);
  scheduler.step();  // the timer
  scheduler.expect<TimeIsUp>(batcher);
  scheduler.expect<Batch>(sink);
}

void time_is_up_for_a_batch_that_was_just_sent() {
  Bench bench;
  auto& [scheduler, sink, batcher] = bench;
  for (int i = 1; i <= 3; ++i) batcher.cast(Item{i}).value();
  scheduler.expect<Item>(batcher);
  scheduler.advance(1s);  // two items wait, and now the time is up
  scheduler.run();
  check(sink.get()->batches.size() == 1, "no empty batch");
}

void a_batcher_ends_with_its_sink() {
  Bench bench;
  auto& [scheduler, sink, batcher] = bench;
  batcher.cast(Item{1}).value();
  scheduler.expect<Item>(batcher);
  scheduler.inject_exit(sink, stoker::ExitReason::kill());
  scheduler.expect<stoker::Down>(batcher);
  scheduler.run();
  check(batcher.ended().get() == stoker::ExitReason::shutdown("no sink"), "it says why");
}

struct Produce {};
class Producer final : public stoker::Actor {
 public:
  Producer(stoker::ActorRef<Batcher> batcher, int first)
      : batcher_{std::move(batcher)}, next_{first} {}
  void on(Produce) { batcher_.cast(Item{next_++}).value(); }

 private:
  stoker::ActorRef<Batcher> batcher_;
  int next_;
};

void no_order_loses_an_item(std::uint64_t seed) {
  Bench bench{stoker::TestScheduler{seed}};
  auto& [scheduler, sink, batcher] = bench;
  std::vector<stoker::ActorRef<Producer>> producers;
  for (const int first : {100, 200, 300})
    producers.push_back(
        stoker::spawn<Producer>(scheduler.executor(), {.name = "producer"}, batcher, first));
  for (int round = 0; round < 5; ++round)
    for (const auto& producer : producers) producer.cast(Produce{}).value();
  scheduler.run();
  scheduler.advance(1s);
  scheduler.run();
  std::size_t items = 0;
  for (const auto& batch : sink.get()->batches) {
    check(!batch.empty() && batch.size() <= 3, "one to three items");
    items += batch.size();
  }
  check(items == 15, "every item arrives, with seed " + std::to_string(seed));
}

}  // namespace

int main() try {
  three_items_make_a_batch();
  a_second_makes_a_batch_too();
  time_is_up_for_a_batch_that_was_just_sent();
  a_batcher_ends_with_its_sink();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) no_order_loses_an_item(seed);
  std::cout << "all orders that were tried are right\n";
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
