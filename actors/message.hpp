// What travels between actors: one envelope per message, delivered once or refused once.
#pragma once

#include <memory>
#include <utility>

#include "stoker/actors/actor_cell.hpp"
#include "stoker/runtime/error.hpp"
#include "stoker/runtime/future.hpp"
#include "stoker/runtime/mailbox.hpp"

namespace stoker {

/// An envelope in a strand's mailbox. Exactly one of deliver() and refuse() is called, then it is
/// destroyed, all on the strand (refuse() may also come from the sender's thread).
class Message : public Envelope {
 public:
  explicit Message(std::shared_ptr<ActorCell> target) noexcept : target_{std::move(target)} {}

  [[nodiscard]] ActorCell& target() const noexcept { return *target_; }
  /// Runs the handler. What it throws ends the target.
  virtual void deliver() = 0;
  /// The target is gone or its mailbox full: tells whoever waits for an answer.
  virtual void refuse(const Error&) noexcept {}

 private:
  std::shared_ptr<ActorCell> target_;
};

/// Thrown by Actor::exit() through the handler; nothing of std catches it by accident.
struct ExitNow {
  ExitReason reason;
};

/// Whether actor type A has a handler `on(M)`: sending anything else does not compile.
template <class A, class M>
concept Handles = requires(A& actor, M message) {
  actor.on(std::move(message));
};

namespace detail {
template <class T> struct ReplyValue { using type = T; };
template <class T> struct ReplyValue<Result<T>> { using type = T; };
}  // namespace detail

/// What `call` answers for a handler that returns R or Result<R>.
template <class A, class M>
using ReplyOf =
    typename detail::ReplyValue<decltype(std::declval<A&>().on(std::declval<M>()))>::type;

/// cast: no answer.
template <class A, class M> class CastMessage final : public Message {
 public:
  CastMessage(std::shared_ptr<ActorCell> target, M content)
      : Message{std::move(target)}, content_{std::move(content)} {}
  void deliver() override {
    static_cast<void>(static_cast<A&>(*target().actor()).on(std::move(content_)));
  }

 private:
  M content_;
};

/// call: the answer, or why there is none, goes into a future.
template <class A, class M> class CallMessage final : public Message {
 public:
  using Reply = ReplyOf<A, M>;
  CallMessage(std::shared_ptr<ActorCell> target, M content)
      : Message{std::move(target)}, content_{std::move(content)} {}

  [[nodiscard]] Future<Reply> answer() { return promise_.future(); }

  void deliver() override {
    A& actor = static_cast<A&>(*target().actor());
    using Raw = decltype(actor.on(std::move(content_)));
    try {
      if constexpr (std::is_void_v<Raw>) {
        actor.on(std::move(content_));
        promise_.set();
      } else {
        promise_.set(actor.on(std::move(content_)));
      }
    } catch (const ExitNow& exit) {
      promise_.set(exit.reason.as_error("call", target().name()));
      throw;
    } catch (...) {
      promise_.set(error_from_current_exception("call"));
      throw;
    }
  }
  void refuse(const Error& why) noexcept override { promise_.set(why); }

 private:
  M content_;
  Promise<Reply> promise_;
};

}  // namespace stoker
