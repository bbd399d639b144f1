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
// throws ends its actor, with the exception as the reason; who is linked to it ends, too, or is told
// if it traps exits; who watches it is told; nobody else is touched.
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

/// What an actor class derives from. The protected functions are for its handlers: on its strand, and
/// not before spawn() has returned. Addresses that are passed to them are not empty.
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
  /// The same as the address of this class. Throws invalid_argument if it is another.
  template <class Me> [[nodiscard]] ActorRef<Me> self() const;
  /// Where this actor runs: for what it spawns.
  [[nodiscard]] const std::shared_ptr<Executor>& executor() const {
    return own().strand()->shared_executor();
  }
  /// Makes an actor that is linked to this one, its parent, before anybody can reach it.
  template <class A, class... Args> ActorRef<A> spawn_link(SpawnOptions options, Args&&... args);

  /// For handlers that return a Future: `to` answers in this actor's place, also if this one ends
  /// meanwhile.
  template <class A, class M>
  [[nodiscard]] static Future<ReplyOf<A, M>> forward(const ActorRef<A>& to, M message) {
    return to.call(std::move(message));
  }
  /// Calls `function(const Result<T>&)` as a handler of this actor when the future is ready: it may
  /// use members, and what it throws ends the actor. Keeps the actor until then; if it ends before,
  /// the function is not called.
  template <class T, class F> void then(const Future<T>& future, F&& function);

  /// Ends this actor after the handler that runs now, whatever it traps: exit() without its throw.
  void leave(ExitReason why = ExitReason::normal()) { own().leave(std::move(why)); }
  /// Ends this actor at once, whatever it traps.
  [[noreturn]] void exit(ExitReason why) { throw ExitNow{std::move(why)}; }

  /// Exit signals become on_exit() calls instead of ending this actor; `kill` from exit() does not.
  void trap_exit(bool trap = true) { own().trap_exit(trap); }
  /// Ties both: when one ends, the other gets an exit signal with its reason. Idempotent. Linking to
  /// one that has ended gives the signal `noproc`.
  void link(const ActorAddress& other) { own().link(other.existing("link")); }
  /// From now on the link has no effect; Flush::yes also forgets an on_exit() that queues.
  void unlink(const ActorAddress& other, Flush flush = Flush::no) {
    own().unlink(other.existing("unlink"), flush);
  }
  /// on_down() will be called once, at once if the target has ended (`noproc`). Each call counts.
  MonitorRef monitor(const ActorAddress& target) {
    return own().monitor(target.existing("monitor"));
  }
  /// False if the target had ended: on_down() has been called or queues (Flush::yes forgets it).
  bool demonitor(MonitorRef monitor, Flush flush = Flush::no) {
    return own().demonitor(monitor, flush);
  }

  /// A linked actor has ended, or somebody wants this one to; only while it traps exits.
  virtual void on_exit(const Exit&) {}
  /// The same of its parent: the supervisor or the spawn_link() that made it. Ends it, as it does a
  /// gen_server. One that first has something to finish overrides this, and leaves later; its
  /// supervisor kills it when the time for that is over.
  virtual void on_parent_exit(const Exit& exit) { leave(exit.reason); }
  /// A watched actor has ended, and all that it held is free again.
  virtual void on_down(const Down&) {}
  /// The last call: messages that still wait are refused, then the object is destroyed. Not for an
  /// actor that nobody can reach any more: that is only destroyed.
  virtual void terminate(const ExitReason&) {}

  /// This actor's identity; null before spawn().
  [[nodiscard]] ActorCell* cell() const noexcept { return cell_; }

 private:
  friend class ActorCell;
  /// False: the actor ends by itself later, because of `why`.
  [[nodiscard]] virtual bool may_end(const ExitReason& /*why*/) noexcept { return true; }
  /// This actor's cell. Throws invalid_argument in its constructor, when there is none yet.
  [[nodiscard]] ActorCell& own() const;
  ActorCell* cell_ = nullptr;
};

struct CallOptions {
  /// When the answer is an error, deadline_exceeded, on the actor's executor's clock. The message is
  /// still handled, as in OTP; the late answer is dropped.
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  Run run = Run::posted;
};

/// A typed address: what the target cannot take does not compile. Copyable, usable from any thread.
template <class A> class ActorRef : public ActorAddress {
 public:
  ActorRef() = default;
  /// `cell` is that of an A.
  explicit ActorRef(std::shared_ptr<ActorCell> cell) noexcept : ActorAddress{std::move(cell)} {}

  /// Sends without an answer. Errors: overloaded (mailbox full; under OverflowRule::park only if the
  /// caller cannot be parked), closed (its strand was closed), invalid_argument (the address is empty).
  /// To an actor that has ended it is silent, as in OTP.
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

  /// Sends and answers with what the handler returns (or the future that it returns); with an Error
  /// when the actor is gone or goes, its mailbox is full, or the handler throws.
  template <class M, class Target = A>
  requires Answers<Target, M>
  [[nodiscard]] Future<ReplyOf<Target, M>> call(M message, Run run = Run::posted) const {
    return call(std::move(message), CallOptions{.run = run});
  }
  /// The same within a time.
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
  /// The object, or null once it has ended. Only where nothing of the actor can run meanwhile.
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

/// The address as that of an A. Errors: invalid_argument if it is of another class, or empty.
template <class A> [[nodiscard]] Result<ActorRef<A>> actor_cast(const ActorAddress& address) {
  if (address && address.cell()->type() == typeid(A)) return ActorRef<A>{address.cell()};
  return detail::not_an_actor_of(address, typeid(A));
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

/// Shares an object that its owner may go on using.
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

/// Makes an actor of an object that its owner goes on using. The strand may be shared.
template <class A>
[[nodiscard]] ActorRef<A> adopt_actor(std::shared_ptr<A> actor, std::shared_ptr<Strand> strand,
                                      std::string name) {
  return ActorRef<A>{
      detail::make_cell<detail::SharingCell>(std::move(actor), std::move(strand), std::move(name))};
}

/// Makes an actor on a strand that may be shared. What the constructor throws, spawn throws.
template <class A, class... Args>
[[nodiscard]] ActorRef<A> spawn_on(std::shared_ptr<Strand> strand, std::string name,
                                   Args&&... args) {
  return ActorRef<A>{detail::make_cell<detail::OwningCell<A>>(std::move(strand), std::move(name),
                                                              std::forward<Args>(args)...)};
}

/// Makes an actor with a strand of its own.
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
/// Waits for a future, then is a message.
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
