#include "stoker/actors/strand.hpp"

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/execution/parker.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

/// How many turns this thread runs inside each other. A turn that sends may run another strand's
/// turn here; deeper chains go through the executor so that the stack stays small.
constexpr int max_nesting = 3;

/// The turns that this thread runs.
struct Turns {
  int nesting = 0;
  const Strand* innermost = nullptr;
  const ActorId* actor = nullptr;  ///< whose handler runs in the innermost
};
thread_local Turns this_thread_turns;

Error has_ended() noexcept {
  return error_or_out_of_memory([] {
    return Error{"send", ErrorCode::closed, "the actor has ended"};
  });
}

}  // namespace

// Processes run in turns, and wake on other threads.
STOKER_THREAD_LOCAL_ACCESS static Turns& turns() noexcept { return this_thread_turns; }

Strand::InTurn::InTurn(const Strand& strand) noexcept
    : outer_{std::exchange(turns().innermost, &strand)},
      outer_actor_{std::exchange(turns().actor, &actor_)} {
  ++turns().nesting;
}

Strand::InTurn::~InTurn() {
  --turns().nesting;
  turns().innermost = outer_;
  turns().actor = outer_actor_;
}

bool Strand::running_here() const noexcept { return turns().innermost == this; }

ActorId Strand::running_actor() noexcept {
  const ActorId* const actor = turns().actor;
  return actor ? *actor : 0;
}

template <class Refuse> void Strand::refuse_all(Envelope* chain, Refuse&& refuse) noexcept {
  while (chain) {
    const std::unique_ptr<Message> message{static_cast<Message*>(chain)};
    chain = chain->next;
    refuse(*message);
  }
}

Error Strand::closed_because() const noexcept {
  return closed_ ? error_or_out_of_memory([this] { return *closed_; }) : has_ended();
}

Strand::~Strand() {
  if (Envelope* left = mailbox_.close())
    refuse_all(left, [why = closed_because()](Message& message) { message.refuse(why); });
}

PushResult Strand::push(Message& message, Clock::time_point until) {
  switch (overflow_) {
    case OverflowRule::drop_oldest: return mailbox_.push_dropping(&message);
    case OverflowRule::park:
      // In a turn nobody waits but a process, and that not for itself.
      if (!blocks_thread() && !running_here() && (turns().nesting == 0 || this_process::inside()))
        return mailbox_.push_parking(&message, until);
      break;
    case OverflowRule::reject: break;
  }
  return mailbox_.push(&message);
}

std::shared_ptr<const void> Strand::keep() const noexcept {
  if (auto actor = sole_.lock()) return actor;
  return shared_from_this();
}

void Strand::schedule() noexcept {
  if (turns().nesting > 0)
    executor_->defer(static_cast<Task&>(*this));
  else
    executor_->post(static_cast<Task&>(*this));
}

Result<void> Strand::send(std::unique_ptr<Message> message, Run run, Clock::time_point until) {
  if (fork_.forked()) {
    Error error = check_process("send").error();
    message->refuse(error);
    return error;
  }
  switch (push(*message, until)) {
    case PushResult::queued: static_cast<void>(message.release()); return {};
    case PushResult::wake:
      static_cast<void>(message.release());
      self_ = keep();
      if (run == Run::here && turns().nesting < max_nesting && !this_process::inside())
        turn();
      else
        schedule();
      return {};
    case PushResult::full: {
      Error error{
          "send",
          ErrorCode::overloaded,
          "the mailbox is full",
          {{"actor", message->target().name()}, {"capacity", std::to_string(mailbox_.capacity())}}};
      message->refuse(error);
      return error;
    }
    case PushResult::closed: break;
  }
  Error error = closed_because();
  message->refuse(error);
  return error;
}

void Strand::send_signal(std::unique_ptr<Message> message) noexcept {
  if (fork_.forked()) return;
  const PushResult result = mailbox_.push_over(message.get());
  if (!accepted(result)) return message->refuse(closed_because());
  static_cast<void>(message.release());
  if (result != PushResult::wake) return;
  self_ = keep();
  schedule();
}

bool Strand::enter() noexcept {
  if (turns().nesting >= max_nesting || this_process::inside() || fork_.forked()) return false;
  if (!mailbox_.claim()) return false;
  self_ = keep();
  return true;
}

void Strand::run() noexcept { turn(); }

void Strand::drop() noexcept {
  const std::shared_ptr<const void> self = std::move(self_);
  try {
    closed_ =
        std::make_unique<const Error>("send", ErrorCode::closed, "the actor's executor has gone");
  } catch (...) {  // no memory to keep the reason
  }
  refuse_all(mailbox_.close(), [this, why = closed_because()](Message& message) {
    message.refuse(why);
    // In a child of fork() those who would be told are the parent's.
    if (!fork_.forked()) message.target().end_without_executor();
  });
  if (fork_.forked()) return;
  if (const auto sole = sole_.lock()) sole->end_without_executor();
}

std::unique_ptr<Message> Strand::next() noexcept {
  if (overflow_ == OverflowRule::drop_oldest)
    if (Envelope* surplus = mailbox_.trim())
      refuse_all(
          surplus,
          [why = error_or_out_of_memory([] {
             return Error{"send", ErrorCode::overloaded, "newer messages took the mailbox's space"};
           })](Message& message) { message.refuse(why); });
  SelectiveReader* const reader = reader_.load(std::memory_order_relaxed);
  Envelope* envelope = reader ? mailbox_.pop_system() : mailbox_.pop();
  if (!envelope && reader && mailbox_.has_unseen()) {
    reader->mail();
    envelope = mailbox_.pop_system();
  }
  return std::unique_ptr<Message>{static_cast<Message*>(envelope)};
}

void Strand::turn(int delivered) noexcept {
  InTurn turn{*this};
  StallDetector::Slot* const slot = executor_->stall_detector().here();
  for (int counted = 0;;) {
    int signals = 0;
    while (delivered < budget_) {
      const std::unique_ptr<Message> message = next();
      if (!message) break;
      if (message->system) ++signals;
      turn.of(message->target());
      deliver(*message, slot);
      delivered += 1 + std::exchange(taken_, 0);  // what a reader took counts as well
    }
    count(static_cast<std::uint64_t>(delivered - counted - signals));
    if (delivered > std::exchange(counted, delivered) && end_of_turn_) (*end_of_turn_)();
    SelectiveReader* const picks = reader_.load(std::memory_order_relaxed);
    // The budget ended the loop before next() could say so.
    if (picks && delivered >= budget_ && mailbox_.has_unseen()) picks->mail();
    const std::shared_ptr<const void> self = std::move(self_);
    // From here on another thread may run the next turn.
    if (picks ? mailbox_.try_block_keeping() : mailbox_.try_block()) return;
    self_ = self;
    // What came meanwhile counts as well: this thread may be a sender's, with work of its own.
    if (delivered >= budget_) return executor_->defer(static_cast<Task&>(*this));
  }
}

void Strand::deliver(Message& message, StallDetector::Slot* slot) noexcept {
  ActorCell& target = message.target();
  if (target.alive())
    guarded(target, slot, [&] { message.deliver(); });
  else
    message.refuse(error_or_out_of_memory([&] { return gone(target); }));
}

Error Strand::gone(const ActorCell& target) {
  return target.reason().value_or(ExitReason::noproc()).as_error("send", target.name());
}

}  // namespace stoker
