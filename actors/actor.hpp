// Event-based actors: a class with a handler `on(M)` for each message it takes.
//
//     struct Add { int value; };
//     struct Total {};
//     class Counter : public Actor {
//      public:
//       void on(Add add) { total_ += add.value; }
//       int on(Total) { return total_; }
//      private:
//       int total_ = 0;
//     };
//     ActorRef<Counter> counter = spawn<Counter>(executor, {.name = "counter"});
//     counter.cast(Add{2});
//     int total = counter.call(Total{}).get();
//
// Handlers of one actor never run at the same time, so its members need no lock. A handler that
// throws ends its actor, with the exception as the reason; nobody else is touched.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "stoker/actors/strand.hpp"

namespace stoker {

template <class A> class ActorRef;
namespace detail {
class StopMessage;
}

class Actor {
 public:
  Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  virtual ~Actor() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// False once it has stopped; its messages are refused from then on.
  [[nodiscard]] bool alive() const noexcept { return alive_.load(std::memory_order_acquire); }

  /// Called once on the strand when the actor ends: code `closed` when it was stopped.
  virtual void on_exit(const Error&) {}

 private:
  friend class Strand;
  friend class detail::StopMessage;
  template <class A>
  friend ActorRef<A> adopt_actor(std::shared_ptr<A>, std::shared_ptr<Strand>, std::string);

  /// Ends the actor: runs on_exit() once.  [strand]
  void exit(const Error& why) noexcept;

  std::string name_;
  std::atomic<bool> alive_{true};
};

/// A typed address. Copyable, usable from any thread; keeps the actor object (not its life) in
/// being.
template <class A> class ActorRef {
 public:
  ActorRef() = default;
  ActorRef(std::shared_ptr<A> actor, std::shared_ptr<Strand> strand) noexcept
      : actor_{std::move(actor)}, strand_{std::move(strand)} {}

  /// Sends without an answer. Errors: overloaded (mailbox full), closed (the actor has ended).
  template <class M, class Target = A>  // Target: an actor may hold references to its own kind
  requires Handles<Target, M> Result<void> cast(M message, Run run = Run::posted)
  const {
    // An idle actor that may run here needs no envelope.
    if (run == Run::here && strand_->enter())
      return strand_->deliver_now(*actor_,
                                  [&] { static_cast<void>(actor_->on(std::move(message))); });
    return strand_->send(std::make_unique<CastMessage<Target, M>>(actor_, std::move(message)), run);
  }

  /// Sends and answers with what the handler returns; with an Error when the actor is gone, its
  /// mailbox full, or the handler throws.
  template <class M, class Target = A>
  requires Handles<Target, M>
  [[nodiscard]] Future<ReplyOf<Target, M>> call(M message, Run run = Run::posted) const {
    auto envelope = std::make_unique<CallMessage<Target, M>>(actor_, std::move(message));
    auto answer = envelope->answer();
    static_cast<void>(strand_->send(std::move(envelope), run));  // a refusal is the answer
    return answer;
  }

  /// Ends the actor after the messages sent before; the future is ready when it has ended.
  Future<void> stop() const;

  [[nodiscard]] const std::shared_ptr<Strand>& strand() const noexcept { return strand_; }
  [[nodiscard]] A* get() const noexcept { return actor_.get(); }
  [[nodiscard]] const std::shared_ptr<A>& shared() const noexcept { return actor_; }
  [[nodiscard]] explicit operator bool() const noexcept { return actor_ != nullptr; }
  [[nodiscard]] bool alive() const noexcept { return actor_ && actor_->alive(); }

 private:
  std::shared_ptr<A> actor_;
  std::shared_ptr<Strand> strand_;
};

struct SpawnOptions {
  std::string name = {};
  std::uint32_t capacity = Strand::default_capacity;  ///< messages that may wait
};

/// Gives an actor object its name and its strand. The strand may be shared.
template <class A>
[[nodiscard]] ActorRef<A> adopt_actor(std::shared_ptr<A> actor, std::shared_ptr<Strand> strand,
                                      std::string name) {
  static_cast<Actor&>(*actor).name_ = std::move(name);
  return {std::move(actor), std::move(strand)};
}

/// Makes an actor with a strand of its own. What the constructor throws, spawn throws.
template <class A, class... Args>
[[nodiscard]] ActorRef<A> spawn(std::shared_ptr<Executor> executor, SpawnOptions options,
                                Args&&... args) {
  auto strand = std::make_shared<Strand>(std::move(executor), options.capacity);
  return adopt_actor(std::make_shared<A>(std::forward<Args>(args)...), std::move(strand),
                     std::move(options.name));
}

template <class Handler> Result<void> Strand::deliver_now(Actor& target, Handler&& handler) {
  Result<void> outcome;
  if (target.alive()) {
    try {
      handler();
    } catch (...) {
      end(target);
    }
  } else {
    outcome = gone(target);
  }
  leave();
  return outcome;
}

namespace detail {
/// Asks any actor to end; used by ActorRef::stop.
class StopMessage final : public Message {
 public:
  explicit StopMessage(std::shared_ptr<Actor> target) noexcept : Message{std::move(target)} {}
  [[nodiscard]] Future<void> answer() { return promise_.future(); }
  void deliver() override;
  void refuse(const Error&) noexcept override {
    promise_.set();
  }  // it has ended: that is the answer

 private:
  Promise<void> promise_;
};
}  // namespace detail

template <class A> Future<void> ActorRef<A>::stop() const {
  auto envelope = std::make_unique<detail::StopMessage>(actor_);
  auto answer = envelope->answer();
  static_cast<void>(strand_->send(std::move(envelope)));
  return answer;
}

}  // namespace stoker
