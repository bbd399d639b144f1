#include "stoker/actors/strand.hpp"

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/process.hpp"

namespace stoker {
namespace {

/// How many turns this thread runs inside each other. A turn that sends may run another strand's
/// turn here; deeper chains go through the executor so that the stack stays small.
constexpr int max_nesting = 3;
thread_local int nesting = 0;

}  // namespace

Strand::~Strand() {
  refuse_all(mailbox_.close(), Error{"send", ErrorCode::closed, "the actor has ended"});
}

void Strand::refuse_all(Envelope* chain, const Error& why) noexcept {
  while (chain) {
    const std::unique_ptr<Message> message{static_cast<Message*>(chain)};
    chain = chain->next;
    message->refuse(why);
  }
}

Result<void> Strand::send(std::unique_ptr<Message> message, Run run) {
  switch (mailbox_.push(message.get())) {
    case PushResult::queued: static_cast<void>(message.release()); return {};
    case PushResult::wake:
      static_cast<void>(message.release());
      self_ = shared_from_this();
      if (run == Run::here && nesting < max_nesting && !this_process::inside())
        turn();
      else
        executor_->post(static_cast<Task&>(*this));
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
  Error error = closed_ ? *closed_ : Error{"send", ErrorCode::closed, "the actor has ended"};
  message->refuse(error);
  return error;
}

void Strand::send_signal(std::unique_ptr<Message> message) noexcept {
  const PushResult result = mailbox_.push_over(message.get());
  if (!accepted(result)) return;
  static_cast<void>(message.release());
  if (result != PushResult::wake) return;
  self_ = shared_from_this();
  executor_->post(static_cast<Task&>(*this));
}

bool Strand::enter() noexcept {
  if (nesting >= max_nesting || this_process::inside() || !mailbox_.claim()) return false;
  self_ = shared_from_this();
  ++nesting;
  return true;
}

void Strand::run() noexcept { turn(); }

void Strand::turn(int delivered) noexcept {
  ++nesting;
  for (;;) {
    while (delivered < budget) {
      Envelope* envelope = mailbox_.pop();
      if (!envelope) break;
      const std::unique_ptr<Message> message{static_cast<Message*>(envelope)};
      deliver(*message);
      ++delivered;
    }
    delivered_.fetch_add(static_cast<std::uint64_t>(delivered), std::memory_order_relaxed);
    if (delivered > 0 && end_of_turn_) end_of_turn_();
    if (delivered == budget) {
      --nesting;
      executor_->defer(static_cast<Task&>(*this));
      return;
    }
    const std::shared_ptr<Strand> self = std::move(self_);
    if (mailbox_.try_block()) break;  // from here on another thread may run the next turn
    self_ = self;
    delivered = 0;
  }
  --nesting;
}

void Strand::deliver(Message& message) noexcept {
  ActorCell& target = message.target();
  if (!target.alive()) {
    message.refuse(gone(target));
    return;
  }
  try {
    message.deliver();
  } catch (...) {
    end(target);
  }
}

Error Strand::gone(const ActorCell& target) {
  return target.reason().value_or(ExitReason::noproc()).as_error("send", target.name());
}

void Strand::end(ActorCell& target) noexcept {
  try {
    throw;
  } catch (const ExitNow& exit) {
    target.finish(exit.reason);
  } catch (...) {
    target.finish(ExitReason::failure(error_from_current_exception(target.name())));
  }
}

void Strand::leave() noexcept {
  --nesting;
  turn(1);
}

void Strand::close(const Error& why) {
  closed_ = std::make_shared<const Error>(why);
  refuse_all(mailbox_.close(), why);
}

}  // namespace stoker
