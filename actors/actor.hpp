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
// throws ends its actor, with the exception as the reason. Linked actors end too, or get on_exit()
// if they trap exits; monitoring actors get on_down(); no other actor is affected.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/actors/address.hpp"
#include "stoker/actors/strand.hpp"

namespace stoker {

template <class A> class ActorRef;

struct SpawnOptions {
  std::string name = {};
  std::uint32_t capacity = Strand::default_capacity;  ///< messages that may wait
  OverflowRule overflow = OverflowRule::reject;       ///< what happens to one more
};

namespace detail {
[[nodiscard]] Error not_an_actor_of(const ActorAddress& address, const std::type_info& wanted);
}  // namespace detail

/// The base of actor classes. Call the protected functions only from handlers: on the actor's
/// strand, after spawn() has returned. They throw invalid_argument for empty addresses.
class Actor {
 public:
  Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  virtual ~Actor() = default;

 protected:
  /// Empty before spawn().
  [[nodiscard]] ActorAddress self() const noexcept {
    return ActorAddress{cell_ ? cell_->weak_from_this().lock() : nullptr};
  }
  /// A typed address of this actor. Throws invalid_argument if it is not a Me.
  template <class Me> [[nodiscard]] ActorRef<Me> self() const;
  /// The executor that this actor runs on, for spawning others.
  [[nodiscard]] const std::shared_ptr<Executor>& executor() const {
    return own().strand()->shared_executor();
  }
  /// Spawns an actor that is linked to this one, its parent, before it can be reached.
  template <class A, class... Args> ActorRef<A> spawn_link(SpawnOptions options, Args&&... args);

  /// For handlers that return a Future: lets `to` answer in this actor's place, even if this one
  /// ends meanwhile.
  template <class A, class M>
  [[nodiscard]] static Future<ReplyOf<A, M>> forward(const ActorRef<A>& to, M message) {
    return to.call(std::move(message));
  }
  /// Calls `function(const Result<T>&)` like a handler of this actor when the future is ready: it
  /// may use members, and an exception ends the actor. Keeps the actor reachable until then. If the
  /// actor has ended, the function is not called.
  template <class T, class F> void then(const Future<T>& future, F&& function);

  /// Ends this actor after the current handler, even if it traps exits: like exit(), without a
  /// throw.
  void leave(ExitReason why = ExitReason::normal()) { own().leave(std::move(why)); }
  /// Ends this actor at once, even if it traps exits.
  [[noreturn]] void exit(ExitReason why) { throw ExitNow{std::move(why)}; }

  /// Turns exit signals into on_exit() calls instead of ending this actor. `kill` from exit() still
  /// ends it.
  void trap_exit(bool trap = true) { own().trap_exit(trap); }
  /// Links two actors: when one ends, the other gets an exit signal with its reason. Idempotent.
  /// Linking to an actor that has ended gives the signal `noproc`.
  void link(const ActorAddress& other) { own().link(other.existing("link")); }
  /// Removes the link; Flush::yes also removes a queued on_exit().
  void unlink(const ActorAddress& other, Flush flush = Flush::no) {
    own().unlink(other.existing("unlink"), flush);
  }
  /// Calls on_down() once when the target ends, or at once (`noproc`) if it has. Each call makes
  /// another monitor.
  MonitorRef monitor(const ActorAddress& target) {
    return own().monitor(target.existing("monitor"));
  }
  /// Removes a monitor. False if the target had ended: on_down() was called or is queued
  /// (Flush::yes removes it).
  bool demonitor(MonitorRef monitor, Flush flush = Flush::no) {
    return own().demonitor(monitor, flush);
  }

  /// Called, only while this actor traps exits, when a linked actor has ended or exit() was sent to
  /// this one.
  virtual void on_exit(const Exit&) {}
  /// The same for its parent, the supervisor or actor that spawned it. By default it ends this
  /// actor, like a gen_server. Override it to finish work first and call leave() later; the
  /// supervisor kills the actor when its shutdown time is over.
  virtual void on_parent_exit(const Exit& exit) { leave(exit.reason); }
  /// Called when a monitored actor has ended and its resources are released.
  virtual void on_down(const Down&) {}
  /// The last call before destruction; waiting messages are then refused. Not called for an actor
  /// that became unreachable: that is only destroyed.
  virtual void terminate(const ExitReason&) {}

  /// This actor's identity; null before spawn().
  [[nodiscard]] ActorCell* cell() const noexcept { return cell_; }

 private:
  friend class ActorCell;
  /// Returns false if the actor will end itself later, because of `why`.
  [[nodiscard]] virtual bool may_end(const ExitReason& /*why*/) noexcept { return true; }
  /// This actor's cell. Throws invalid_argument in its constructor, when there is none yet.
  [[nodiscard]] ActorCell& own() const;
  ActorCell* cell_ = nullptr;
};

struct CallOptions {
  /// After this time, on the clock of the actor's executor, the answer is deadline_exceeded. The
  /// message is still handled, as in OTP; the late answer is dropped.
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  Run run = Run::posted;
};

/// A typed address: sending a message that the target does not handle does not compile. Copyable,
/// usable from any thread.
template <class A> class ActorRef : public ActorAddress {
 public:
  ActorRef() = default;
  /// `cell` must belong to an A.
  explicit ActorRef(std::shared_ptr<ActorCell> cell) noexcept : ActorAddress{std::move(cell)} {}

  /// Sends without an answer. Errors: overloaded (mailbox full; under OverflowRule::park only if
  /// the caller cannot be parked), closed (its strand was closed), invalid_argument (the address is
  /// empty). Sending to an actor that has ended succeeds silently, as in OTP. An error is returned and
  /// not thrown, because another's full mailbox must not end the actor that sends; it may be ignored.
  template <class M, class Target = A>  // Target: an actor may hold references to its own kind
  requires Handles<Target, M> Result<void> cast(M message, Run run = Run::posted)
  const {
    if (!*this) return empty_address("cast");
    if constexpr (ReceivesMail<Target>) {
      return strand()->send(std::make_unique<MailMessage<M>>(cell(), std::move(message)));
    } else {
      // An idle actor that may run here needs no envelope.
      if (run == Run::here && strand()->enter())
        return strand()->deliver_now(*cell(), [&] {
          static_cast<void>(static_cast<A&>(*cell()->actor()).on(std::move(message)));
        });
      return strand()->send(std::make_unique<CastMessage<Target, M>>(cell(), std::move(message)),
                            run);
    }
  }

  /// Sends a message. The future holds the handler's result (or that of the future it returns), or
  /// an Error if the actor has ended or ends, its mailbox is full, or the handler throws.
  template <class M, class Target = A>
  requires Answers<Target, M>
  [[nodiscard]] Future<ReplyOf<Target, M>> call(M message, Run run = Run::posted) const {
    return call(std::move(message), CallOptions{.run = run});
  }
  /// The same with a timeout.
  template <class M, class Target = A>
  requires Answers<Target, M>
  [[nodiscard]] Future<ReplyOf<Target, M>> call(M message, const CallOptions& options) const {
    if (!*this) return make_ready_future<ReplyOf<Target, M>>(empty_address("call"));
    if constexpr (ReceivesMail<Target>) {
      using Sent = typename detail::RequestFor<M, typename Target::Mail>::type;
      ReplyPromise<typename Sent::Reply> answer;
      auto future = answer.future();
      const auto until = limit(answer, options.timeout);
      // A refusal is the answer.
      static_cast<void>(strand()->send(
          std::make_unique<MailMessage<Sent>>(cell(), Sent{std::move(message), std::move(answer)}),
          Run::posted, until));
      return future;
    } else {
      auto envelope = std::make_unique<CallMessage<Target, M>>(cell(), std::move(message));
      auto future = envelope->answer().future();
      const auto until = limit(envelope->answer(), options.timeout);
      static_cast<void>(strand()->send(std::move(envelope), options.run, until));
      return future;
    }
  }

  [[nodiscard]] const std::shared_ptr<Strand>& strand() const noexcept { return cell()->strand(); }
  /// The object, or null once the actor has ended. Use only while the actor cannot run.
  [[nodiscard]] A* get() const noexcept {
    return *this ? static_cast<A*>(cell()->actor()) : nullptr;
  }

 private:
  template <class R>
  Clock::time_point limit(ReplyPromise<R>& answer, std::chrono::nanoseconds timeout) const {
    // In a child of fork() the clock is the parent's, and the message will be refused.
    if (timeout == std::chrono::nanoseconds::max() || !strand()->check_process("call"))
      return Clock::time_point::max();
    Executor& executor = strand()->executor();
    const auto until = deadline_after(executor.clock().now(), timeout);
    answer.limit(executor, until, name());
    return until;
  }
};

/// Converts to a typed address. Errors: invalid_argument if the actor is of another class, or the
/// address is empty.
template <class A> [[nodiscard]] Result<ActorRef<A>> try_actor_cast(const ActorAddress& address) {
  if (address && address.cell()->type() == typeid(A)) return ActorRef<A>{address.cell()};
  return detail::not_an_actor_of(address, typeid(A));
}
/// The same, but throws the Error.
template <class A> [[nodiscard]] ActorRef<A> actor_cast(const ActorAddress& address) {
  return try_actor_cast<A>(address).value();
}

namespace detail {
/// Holds the object itself.
template <class A> class OwningCell final : public ActorCell {
 public:
  template <class... Args>
  OwningCell(std::shared_ptr<Strand> strand, std::string name, Args&&... args)
      : ActorCell{std::move(strand), std::move(name)},
        object_{std::in_place, std::forward<Args>(args)...} {
    adopt(*object_);
  }
  ~OwningCell() override { end_unreachable(); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(A); }

 private:
  void release() noexcept override { object_.reset(); }
  std::optional<A> object_;
};

/// Makes cells that ActorCell::destroy() ends.
template <class Cell> struct CellAllocator : std::allocator<Cell> {
  CellAllocator() noexcept = default;
  template <class Other>
  CellAllocator(const CellAllocator<Other>&) noexcept {}  // NOLINT(google-explicit-constructor)
  template <class Made> void destroy(Made* cell) noexcept { ActorCell::destroy(*cell); }
};
template <class Cell, class... Args>
[[nodiscard]] std::shared_ptr<ActorCell> make_cell(Args&&... args) {
  return std::allocate_shared<Cell>(CellAllocator<Cell>{}, std::forward<Args>(args)...);
}

/// Shares an object that its owner may continue to use.
class SharingCell final : public ActorCell {
 public:
  SharingCell(std::shared_ptr<Actor> actor, std::shared_ptr<Strand> strand, std::string name)
      : ActorCell{std::move(strand), std::move(name)},
        object_{std::move(actor)},
        type_{typeid(*object_)} {
    adopt(*object_);
  }
  ~SharingCell() override { end_unreachable(); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return type_; }

 private:
  void release() noexcept override { object_.reset(); }
  std::shared_ptr<Actor> object_;
  const std::type_info& type_;
};
}  // namespace detail

/// Makes an actor from an object that its owner continues to use. The strand may be shared.
template <class A>
[[nodiscard]] ActorRef<A> adopt_actor(std::shared_ptr<A> actor, std::shared_ptr<Strand> strand,
                                      std::string name) {
  return ActorRef<A>{
      detail::make_cell<detail::SharingCell>(std::move(actor), std::move(strand), std::move(name))};
}

/// Makes an actor on a strand that may be shared. Throws what the constructor throws.
template <class A, class... Args>
[[nodiscard]] ActorRef<A> spawn_on(std::shared_ptr<Strand> strand, std::string name,
                                   Args&&... args) {
  return ActorRef<A>{detail::make_cell<detail::OwningCell<A>>(std::move(strand), std::move(name),
                                                              std::forward<Args>(args)...)};
}

/// Makes an actor with its own strand. Throws what the constructor throws.
template <class A, class... Args>
[[nodiscard]] ActorRef<A> spawn(std::shared_ptr<Executor> executor, SpawnOptions options,
                                Args&&... args) {
  auto actor =
      spawn_on<A>(std::make_shared<Strand>(std::move(executor), options.capacity, options.overflow),
                  std::move(options.name), std::forward<Args>(args)...);
  actor.cell()->set_alone();
  return actor;
}

template <class A, class... Args>
ActorRef<A> Actor::spawn_link(SpawnOptions options, Args&&... args) {
  auto child = spawn<A>(executor(), std::move(options), std::forward<Args>(args)...);
  own().link_child(*child.cell());
  return child;
}

template <class Me> ActorRef<Me> Actor::self() const {
  static_assert(std::is_base_of_v<Actor, Me>);
  if (dynamic_cast<const Me*>(this) == nullptr)
    throw detail::not_an_actor_of(ActorAddress{own().shared_from_this()}, typeid(Me));
  return ActorRef<Me>{self().cell()};
}

namespace detail {
/// Waits for a future, then sends itself as a message.
template <class T, class F> class Continued final : public Message, private Waiter {
 public:
  Continued(const std::shared_ptr<ActorCell>& target, Future<T> future, F function)
      : Message{target},
        waiting_{target},
        future_{std::move(future)},
        function_{std::move(function)} {}
  static void start(std::unique_ptr<Continued> continued) {
    Continued& waiter = *continued.release();  // its own until it is sent
    waiter.future_.on_ready(waiter);
  }
  void deliver() override { function_(*future_.poll()); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(Result<T>); }

 private:
  void wake() noexcept override {
    std::unique_ptr<Message> self{this};
    const auto target = std::move(waiting_);
    target->strand()->send_signal(std::move(self));
  }
  std::shared_ptr<ActorCell> waiting_;
  Future<T> future_;
  F function_;
};
}  // namespace detail

template <class T, class F> void Actor::then(const Future<T>& future, F&& function) {
  using Continued = detail::Continued<T, std::decay_t<F>>;
  Continued::start(
      std::make_unique<Continued>(own().shared_from_this(), future, std::forward<F>(function)));
}

template <class Handler>
void Strand::guarded(ActorCell& target, StallDetector::Slot* slot, Handler&& handler) noexcept {
  const bool watched = slot && slot->begin(target.id(), target.name());
  // Each kind by itself, because throwing again costs a microsecond.
  try {
    handler();
  } catch (const ExitNow& exit) {
    target.finish(exit.reason);
  } catch (const std::exception& thrown) {
    target.finish(ExitReason::failure(error_from_exception(thrown, target.name())));
  } catch (...) {
    target.finish(ExitReason::failure(error_from_current_exception(target.name())));
  }
  if (watched) slot->end();
}

template <class Handler> Result<void> Strand::deliver_now(ActorCell& target, Handler&& handler) {
  Result<void> outcome;
  {
    InTurn turn{*this};
    turn.of(target);
    if (target.alive())
      guarded(target, executor_->stall_detector().here(), std::forward<Handler>(handler));
    else
      outcome = gone(target);
  }
  turn(1);
  return outcome;
}

}  // namespace stoker
