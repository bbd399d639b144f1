// A mailbox whose messages run one at a time.
//
//     idle ──(first message)──▶ scheduled ──(a thread takes it)──▶ turn ──(mailbox empty)──▶ idle
//                                   ▲                                │
//                                   └──────(budget used up)──────────┘
//
// Actors that share a strand never run at the same time, and a message between them costs a
// function call's worth of queueing; most actors have a strand of their own.
//
// An idle strand may run its turn at once on the sender's thread (Run::here): that is how a submit
// reaches the GPU within microseconds. It never happens re-entrantly, nor from inside a process,
// whose stack is small.
//
// An actor that a handler wakes runs next on the handler's thread, which is many times faster than
// waking another thread. The price: it waits until that handler's turn ends, so a handler that runs
// long after sending delays the last actor it woke.
//
// Threads: send() and close() from any thread; everything else on the strand. Lifetime: a scheduled
// strand keeps itself alive, or the actor whose strand alone it is, and every strand its executor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "stoker/actors/message.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/execution/stall_detector.hpp"
#include "stoker/runtime/execution/task.hpp"
#include "stoker/runtime/queue/mailbox.hpp"

namespace stoker {

enum class Run : std::uint8_t {
  posted,  ///< the executor runs the turn
  here,    ///< this thread may run it if the strand is idle
};

/// A reader that selects its messages instead of taking each in order: a process
/// (process_actor.hpp).
class SelectiveReader {
 public:
  /// Called in the strand's turn when there are messages that the reader has not seen. It requests
  /// its own turn by a signal, or does nothing.
  virtual void mail() noexcept = 0;

 protected:
  ~SelectiveReader() = default;
};

class Strand final : public std::enable_shared_from_this<Strand>, private Task {
 public:
  static constexpr std::uint32_t default_capacity = 4096;

  Strand(std::shared_ptr<Executor> executor, std::uint32_t capacity,
         OverflowRule overflow = OverflowRule::reject)
      : executor_{std::move(executor)},
        mailbox_{capacity},
        overflow_{overflow},
        budget_{std::max(1, executor_->turn_budget())} {
    brief = true;
  }
  ~Strand();

  /// Queues the message. On failure the message was refused: overloaded (mailbox full),
  /// forked_process, or the reason why the strand was closed. With OverflowRule::park a process or
  /// fiber waits for space until `until`. Senders that cannot wait (a plain thread, a handler, a
  /// sender to itself) are refused, and so is a process that is told to end.
  Result<void> send(std::unique_ptr<Message> message, Run run = Run::posted,
                    Clock::time_point until = Clock::time_point::max());

  /// Queues a message regardless of the capacity. If the strand is closed, the message is refused.
  void send_signal(std::unique_ptr<Message> message) noexcept;

  /// Marks the strand as used by this actor only; the strand keeps it alive while messages wait.
  /// Call before the first send().
  void set_sole(std::weak_ptr<ActorCell> actor) noexcept { sole_ = std::move(actor); }

  /// Starts a turn on this thread without a message, if the strand is idle and Run::here is
  /// allowed. The caller must then call deliver_now(), which ends the turn.
  [[nodiscard]] bool enter() noexcept;
  template <class Handler> Result<void> deliver_now(ActorCell& target, Handler&& handler);

  /// Runs at the end of each turn that delivered something. Set before the first send().
  void set_end_of_turn(std::function<void()> hook) {
    end_of_turn_ = std::make_unique<std::function<void()>>(std::move(hook));
  }

  /// Queues a message behind all others, regardless of the capacity. [strand]
  void append(std::unique_ptr<Message> message) noexcept { mailbox_.append(message.release()); }
  /// Drops the queued messages that `unwanted` picks.  [strand]
  template <class Unwanted> void remove_if(Unwanted&& unwanted) {
    delete_chain(mailbox_.take_if(
        [&](const Envelope& envelope) { return unwanted(static_cast<const Message&>(envelope)); }));
  }

  /// Lets `reader` select messages by take_first(); null: each message is delivered. Signals are
  /// always delivered. The reader must outlive the strand or be reset to null. [strand, or while
  /// nobody can send]
  void set_reader(SelectiveReader* reader) noexcept {
    reader_.store(reader, std::memory_order_relaxed);
  }
  /// For the reader: the first message that `wanted` accepts; each is shown once until rescan().
  template <class Wanted> [[nodiscard]] std::unique_ptr<Message> take_first(Wanted&& wanted) {
    std::unique_ptr<Message> message{static_cast<Message*>(mailbox_.take_first(
        [&](Envelope& envelope) { return wanted(static_cast<Message&>(envelope)); }))};
    if (message) ++taken_;
    return message;
  }
  void rescan() noexcept { mailbox_.rescan(); }
  /// For the reader, in its turn: whether signals wait, which come before any message.
  [[nodiscard]] bool signals_wait() noexcept { return mailbox_.has_system(); }

  /// Shows the messages that wait, for tests.  [strand, or while nothing of it can run]
  template <class F> void for_each(F&& show) {
    mailbox_.for_each([&](const Envelope& one) { show(static_cast<const Message&>(one)); });
  }
  /// The task that an executor runs.
  [[nodiscard]] const Task& task() const noexcept { return *this; }

  [[nodiscard]] Executor& executor() const noexcept { return *executor_; }
  [[nodiscard]] const std::shared_ptr<Executor>& shared_executor() const noexcept {
    return executor_;
  }
  /// Fails with forked_process in a child of fork(), where messages would wait forever.
  [[nodiscard]] Result<void> check_process(std::string_view op) const { return fork_.check(op); }
  /// Whether it is closed because its executor is gone.
  [[nodiscard]] bool closed() const noexcept { return mailbox_.closed(); }
  /// Whether the calling code runs in a turn of this strand.
  [[nodiscard]] bool running_here() const noexcept;
  /// The actor whose handler or process the calling code is; 0 outside of all actors.
  [[nodiscard]] static ActorId running_actor() noexcept;
  /// Messages waiting now; approximate while others send.
  [[nodiscard]] std::uint32_t depth() const noexcept { return mailbox_.size(); }
  /// The maximum of depth(): messages, not signals.
  [[nodiscard]] std::uint32_t capacity() const noexcept { return mailbox_.capacity(); }
  /// Total messages delivered to its actors, without signals.
  [[nodiscard]] std::uint64_t delivered() const noexcept {
    return delivered_.load(std::memory_order_relaxed);
  }

 private:
  /// The calling thread runs a turn of this strand.
  class InTurn {
   public:
    explicit InTurn(const Strand& strand) noexcept;
    ~InTurn();
    InTurn(const InTurn&) = delete;
    InTurn& operator=(const InTurn&) = delete;
    /// Sets the actor whose handler runs next.
    void of(const ActorCell& target) noexcept { actor_ = target.id(); }

   private:
    const Strand* outer_;
    const ActorId* outer_actor_;
    ActorId actor_ = 0;
  };

  void run() noexcept override;
  /// Called when the executor is gone: refuses queued and later messages, and ends the actors that
  /// it knows.
  void drop() noexcept override;
  /// The error with which a closed strand refuses messages.
  [[nodiscard]] Error closed_because() const noexcept;
  /// Called in turns only, so one thread at a time updates the count.
  void count(std::uint64_t delivered) noexcept {
    delivered_.store(delivered_.load(std::memory_order_relaxed) + delivered,
                     std::memory_order_relaxed);
  }
  /// Keeps the strand, or the actor that owns it, alive until the turn has ended.
  [[nodiscard]] std::shared_ptr<const void> keep() const noexcept;
  [[nodiscard]] PushResult push(Message& message, Clock::time_point until);
  /// Lets the executor run the next turn, on this thread if a handler is sending.
  void schedule() noexcept;
  [[nodiscard]] std::unique_ptr<Message> next() noexcept;
  /// Delivers waiting messages up to the budget, of which `delivered` are used already.
  void turn(int delivered = 0) noexcept;
  [[nodiscard]] static Error gone(const ActorCell& target);
  static void deliver(Message& message, StallDetector::Slot* slot) noexcept;
  /// Runs a handler of the target under the stall detector. An exception ends the target.
  template <class Handler>
  static void guarded(ActorCell& target, StallDetector::Slot* slot, Handler&& handler) noexcept;
  /// Calls `refuse(Message&)` for each message of the chain, which is destroyed.
  template <class Refuse> static void refuse_all(Envelope* chain, Refuse&& refuse) noexcept;

  const std::shared_ptr<Executor> executor_;
  Mailbox mailbox_;
  std::atomic<SelectiveReader*> reader_{nullptr};
  const OverflowRule overflow_;
  const ForkGuard fork_;
  const int budget_;  // messages per turn, so that a flood to one starves nobody
  std::unique_ptr<std::function<void()>> end_of_turn_;  // few have one
  std::weak_ptr<ActorCell> sole_;
  std::shared_ptr<const void> self_;  ///< while scheduled or running
  std::unique_ptr<const Error> closed_;
  std::atomic<std::uint64_t> delivered_{0};
  int taken_ = 0;  ///< by the reader, in the turn that runs
};

}  // namespace stoker
