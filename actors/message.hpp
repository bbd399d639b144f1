// Messages between actors: one envelope for each message, delivered once or refused once.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "stoker/actors/actor_cell.hpp"
#include "stoker/actors/reply_promise.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/futures/future.hpp"
#include "stoker/runtime/queue/mailbox.hpp"

namespace stoker {

/// An envelope in a strand's mailbox. Exactly one of deliver() and refuse() is called, then it is
/// destroyed, all on the strand (refuse() may also come from the sender's thread).
class Message : public Envelope {
 public:
  /// Keeps the target alive, unless its strand does so while messages wait.
  explicit Message(const std::shared_ptr<ActorCell>& target) noexcept
      : target_{target.get()}, keep_{target->alone() ? nullptr : target} {}

  [[nodiscard]] ActorCell& target() const noexcept { return *target_; }
  /// Sets the target. Call once, before it is sent.
  void address(const std::shared_ptr<ActorCell>& target) noexcept {
    target_ = target.get();
    if (!target->alone()) keep_ = target;
  }
  /// Runs the handler. An exception ends the target.
  virtual void deliver() = 0;
  /// Called if the target is gone or its mailbox full: fails the pending answer.
  virtual void refuse(const Error&) noexcept {}
  /// The type of the content, for tools and tests.
  [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;
  /// The content if it is a `wanted`, else null; for processes, which select their messages.
  [[nodiscard]] virtual void* content(const std::type_info& /*wanted*/) noexcept { return nullptr; }
  /// Called when a process has taken the message.
  virtual void taken() noexcept {}

 protected:
  /// A message without a target, allocated in advance so that sending it cannot fail.
  Message() noexcept = default;

 private:
  ActorCell* target_ = nullptr;
  std::shared_ptr<ActorCell> keep_;
};

/// Thrown by Actor::exit() through the handler; nothing of std catches it by accident.
struct ExitNow {
  ExitReason reason;
};

namespace detail {
template <class T> struct ReplyValue { using type = T; };
template <class T> struct ReplyValue<Result<T>> { using type = T; };
template <class T> struct ReplyValue<Future<T>> { using type = T; };
template <class T> inline constexpr bool is_future = false;
template <class T> inline constexpr bool is_future<Future<T>> = true;

template <class T, class List> inline constexpr bool in_list = false;
template <class T, class... Ts>
inline constexpr bool in_list<T, std::tuple<Ts...>> = (std::is_same_v<T, Ts> || ...);

/// The Request<M, R> in a list, or void.
template <class M, class List> struct RequestFor { using type = void; };
template <class M, class R, class... Rest>
struct RequestFor<M, std::tuple<Request<M, R>, Rest...>> {
  using type = Request<M, R>;
};
template <class M, class First, class... Rest>
struct RequestFor<M, std::tuple<First, Rest...>> : RequestFor<M, std::tuple<Rest...>> {};
}  // namespace detail

/// Actor types that select their messages themselves (process_actor.hpp).
template <class A>
concept ReceivesMail = requires {
  typename A::Mail;
};
template <class A>
concept HandlesMessages = !ReceivesMail<A>;

/// Whether actor type A has a handler `on(M)`.
template <class A, class M>
concept HasHandler = requires(A& actor, M message) {
  actor.on(std::move(message));
};

/// Whether an A can be cast an M: sending anything else does not compile.
template <class A, class M>
concept Handles = (ReceivesMail<A> && detail::in_list<M, typename A::Mail>) || HasHandler<A, M>;

namespace detail {
template <class A, class M> struct ReplyTo {
  using type = typename ReplyValue<decltype(std::declval<A&>().on(std::declval<M>()))>::type;
};
template <ReceivesMail A, class M> struct ReplyTo<A, M> {
  using type = typename RequestFor<M, typename A::Mail>::type::Reply;
};
}  // namespace detail

/// Whether an A can be called with an M.
template <class A, class M>
concept Answers = HasHandler<A, M> ||
    (ReceivesMail<A> && !std::is_void_v<typename detail::RequestFor<M, typename A::Mail>::type>);

/// The result type of call() for a handler that returns R, Result<R> or Future<R>, or for
/// Request<M, R>.
template <class A, class M> using ReplyOf = typename detail::ReplyTo<A, M>::type;

/// A message of cast(), without an answer. If its content has `refused(const Error&)`, that is
/// called when it cannot be delivered.
template <class A, class M> class CastMessage final : public Message {
 public:
  CastMessage(const std::shared_ptr<ActorCell>& target, M content)
      : Message{target}, content_{std::move(content)} {}
  void deliver() override {
    static_cast<void>(static_cast<A&>(*target().actor()).on(std::move(content_)));
  }
  void refuse(const Error& why) noexcept override {
    if constexpr (requires { content_.refused(why); }) content_.refused(why);
  }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(M); }

 private:
  M content_;
};

/// A message of call(): the answer or an Error goes into a future.
template <class A, class M> class CallMessage final : public Message {
 public:
  using Reply = ReplyOf<A, M>;
  CallMessage(const std::shared_ptr<ActorCell>& target, M content)
      : Message{target}, content_{std::move(content)} {}

  [[nodiscard]] ReplyPromise<Reply>& answer() noexcept { return answer_; }

  void deliver() override {
    A& actor = static_cast<A&>(*target().actor());
    using Raw = decltype(actor.on(std::move(content_)));
    try {
      if constexpr (std::is_void_v<Raw>) {
        actor.on(std::move(content_));
        answer_.set();
      } else if constexpr (detail::is_future<Raw>) {
        std::move(answer_).follow(actor.on(std::move(content_)));
      } else {
        answer_.set(actor.on(std::move(content_)));
      }
    } catch (const ExitNow& exit) {
      answer_.set(exit.reason.as_error("call", target().name()));
      throw;
    } catch (...) {
      answer_.set(error_from_current_exception("call"));
      throw;
    }
  }
  void refuse(const Error& why) noexcept override { answer_.set(why); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(M); }

 private:
  M content_;
  ReplyPromise<Reply> answer_;
};

/// A message to a process, which takes the content in a receive.
template <class M> class MailMessage final : public Message {
 public:
  MailMessage(const std::shared_ptr<ActorCell>& target, M content)
      : Message{target}, content_{std::move(content)} {}
  void deliver() override {}
  void refuse(const Error& why) noexcept override {
    if constexpr (requires { content_.reply(why); }) content_.reply(why);
  }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(M); }
  [[nodiscard]] void* content(const std::type_info& wanted) noexcept override {
    return wanted == typeid(M) ? &content_ : nullptr;
  }

 private:
  M content_;
};

}  // namespace stoker
