// Runs actors under a test's control: nothing runs and no time passes until the test says so, one
// message at a time, in an order chosen by the test or by a seed.
//
//     TestScheduler scheduler;
//     const auto server = spawn<Server>(scheduler.executor(), {.name = "server"});
//     const auto answer = server.call(Question{});
//     scheduler.expect<Question>(server);       // delivers it; fails if something else is next
//     scheduler.forbid<Retry>(server);          // fails if one is on its way
//     scheduler.advance(5s);                    // timers are due
//     scheduler.inject_exit(server, ExitReason::kill());   // or inject_failure(server, error)
//     EXPECT_FALSE(answer.wait());
//
// Between actors any order is possible on real threads, so a test that passes in one order may hide a
// bug: TestScheduler::shuffled() runs what is ready in a random order, the same for the same seed.
// STOKER_TEST_SEED repeats one.
//
// Threads: only the test's thread; others may send messages to actors. Lifetime: must outlive the
// actors that the test still holds; its destructor refuses undelivered messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"

namespace stoker {

class TestScheduler {
 public:
  /// Runs ready work in the order in which it became ready.
  TestScheduler();
  /// Runs ready work in an order that depends only on the seed.
  explicit TestScheduler(std::uint64_t seed);
  ~TestScheduler();
  TestScheduler(TestScheduler&&) noexcept = default;
  TestScheduler& operator=(TestScheduler&&) = delete;
  /// Uses the seed STOKER_TEST_SEED or a random one; see seed().
  [[nodiscard]] static TestScheduler shuffled();

  /// For spawn(), SystemOptions, start_supervisor().
  [[nodiscard]] const std::shared_ptr<ManualExecutor>& executor() const noexcept {
    return executor_;
  }
  [[nodiscard]] const std::shared_ptr<ManualClock>& clock() const noexcept { return clock_; }
  [[nodiscard]] std::optional<std::uint64_t> seed() const noexcept { return seed_; }

  // One at a time ---------------------------------------------------------------------------------
  /// Delivers one message to any actor, or runs one continuation; false if nothing is ready.
  bool step() { return executor_->run_one(); }
  /// Delivers the actor's next message; false if it has none.
  bool deliver(const ActorAddress& target);
  /// Delivers the actor's next message if it is an M; signals (exits) come first.
  template <class M> bool allow(const ActorAddress& target) {
    const auto waiting = pending(target);
    return !waiting.empty() && *waiting.front() == typeid(M) && deliver(target);
  }
  /// As allow(); throws not_found, naming what is next, if that is no M.
  template <class M> void expect(const ActorAddress& target) {
    if (!allow<M>(target)) throw unexpected(target, typeid(M));
  }
  /// Throws already_exists if an M is queued for the actor.
  template <class M> void forbid(const ActorAddress& target) const { forbid(target, typeid(M)); }

  // Until nothing is left -------------------------------------------------------------------------
  /// Runs until nothing is ready; returns the number of steps. `limit` stops a livelock.
  std::size_t run(std::size_t limit = 1'000'000) { return executor_->run_all(limit); }

  // Faults and time -------------------------------------------------------------------------------
  /// Sends an exit signal and delivers it before anything else.
  void inject_exit(const ActorAddress& target, const ExitReason& why);
  /// Ends the actor as if a handler had thrown `error`, before anything else is delivered to it.
  void inject_failure(const ActorAddress& target, Error error);
  /// Advances time, which makes due timers ready; returns their number.
  std::size_t advance(Clock::duration time) { return clock_->advance(time); }

  /// The types of the actor's queued messages, in order of delivery; Exit for a signal.
  [[nodiscard]] std::vector<const std::type_info*> pending(const ActorAddress& target) const;

 private:
  void forbid(const ActorAddress& target, const std::type_info& type) const;
  [[nodiscard]] Error unexpected(const ActorAddress& target, const std::type_info& wanted) const;

  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<ManualExecutor> executor_;
  std::optional<std::uint64_t> seed_;
};

}  // namespace stoker
