// Processes: actors in blocking style, with their own stack. They select which messages to receive,
// and when (receive.hpp); no thread is blocked while they wait.
//
//     auto counter = spawn_process<Add, Request<Total, int>>(executor, {.name = "counter"},
//         [](auto& self) {
//           for (int total = 0;;)
//             self.receive([&](Add add) { total += add.value; },
//                          [&](Request<Total, int> ask) { ask.reply(total); });
//         });
//     counter.cast(Add{2});
//     int total = counter.call(Total{}).get();
//
// The list in angle brackets names all messages that the process accepts: a plain type by cast, a
// Request<M, R> by calling with an M. It also gets Exit (while it traps exits) and Down.
//
// It ends with `normal` when the function returns, with what the function throws, or when an exit
// signal or stop() takes effect: at its next receive, which then throws ExitNow through the
// function so that its objects are destroyed. An exit signal also interrupts a wait for space in a
// mailbox, which then fails with `overloaded`. Other waits (a future, a timeline) cannot be
// interrupted. `kill` still marks the process as ended and notifies links and monitors: its later
// messages reach nobody, and it unwinds at its next receive (OTP's rule for native code).
//
// Threads: the function runs in turns of the process's strand, on changing threads; see process.hpp
// for what that forbids. Lifetime: a process lives until it ends. If it waits in a receive without
// `after` and no address of it is left, it ends with `shutdown`, and is unwound on the thread that
// dropped the last address.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "stoker/actors/actor.hpp"
#include "stoker/actors/receive.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {

struct ProcessActorOptions {
  std::string name = {};
  std::uint32_t capacity = Strand::default_capacity;
  OverflowRule overflow = OverflowRule::reject;
  std::size_t stack_bytes = ProcessOptions::default_stack_bytes;
};

/// The part of a process that lives as long as its stack; its ActorCell may end earlier.
class ProcessLife final : public SelectiveReader,
                          public ProcessScheduler,
                          public std::enable_shared_from_this<ProcessLife> {
 public:
  ProcessLife(std::shared_ptr<Executor> executor, std::string name)
      : executor_{std::move(executor)}, name_{std::move(name)} {}
  /// Links the cell to `parent`, if given, then runs `function` on a new stack, where its captures
  /// are destroyed. Throws std::bad_alloc without side effects.
  static void start(const std::shared_ptr<ProcessLife>& life,
                    const std::shared_ptr<ActorCell>& cell, ActorCell* parent,
                    std::size_t stack_bytes, std::function<void()> function);

  // Of the function, on its stack:
  /// Throws ExitNow if the process was told to end before it started.
  void begin();
  /// The next message that `wanted` accepts; null at the time `until`. Throws ExitNow.
  [[nodiscard]] std::unique_ptr<Message> take(const std::function<bool(Message&)>& wanted,
                                              std::optional<Clock::time_point> until);
  /// Throws ExitNow if the process has been told to end.
  void check_exit() const;
  /// Throws ExitNow if it has ended.
  [[nodiscard]] std::shared_ptr<ActorCell> cell() const;
  [[nodiscard]] const std::shared_ptr<Executor>& executor() const noexcept { return executor_; }

  // Of the cell:
  /// Called for an exit signal. Returns true if the cell ends now, false if it ends when the
  /// function returns.
  [[nodiscard]] bool may_end(const ExitReason& why) noexcept;
  /// Called when the cell ends, whatever the function does. If the process is unreachable, a
  /// function that waits in a receive is unwound in this call.
  void abandon() noexcept;

  void mail() noexcept override;
  void schedule(Task& process) noexcept override;
  [[nodiscard]] bool interruptible(Parker* parker) noexcept override;

 private:
  class Body;
  class Resume;
  enum class State : std::uint8_t { running, receiving, ended };

  void wait(std::optional<Clock::time_point> until);
  void ended(const ExitReason& why) noexcept;

  const std::shared_ptr<Executor> executor_;
  const std::string name_;
  std::weak_ptr<ActorCell> cell_;
  mutable std::mutex mutex_;               // of what follows
  std::shared_ptr<ActorCell> keep_alive_;  // unless it waits for nothing but messages
  State state_ = State::receiving;         // until it has begun: it can be ended
  Parker* parked_ = nullptr;               // in a receive
  int taken_ = 0;                          // messages since others last had a turn
  Parker* sending_ = nullptr;              // for space in a mailbox
  std::optional<ExitReason> exit_;
  std::atomic<std::thread::id> unwinding_;  // the thread on which abandon() wakes it
  Task* to_unwind_ = nullptr;               // of that thread
};

/// The actor behind a process's address.
class ProcessActorBase : public Actor {
 public:
  explicit ProcessActorBase(std::shared_ptr<ProcessLife> life) noexcept : life_{std::move(life)} {}
  ~ProcessActorBase() override;

 private:
  [[nodiscard]] bool may_end(const ExitReason& why) noexcept override {
    return life_->may_end(why);
  }
  std::shared_ptr<ProcessLife> life_;
};

template <class... Accepted> class ProcessActor;

/// The argument of a process's function: the process itself. Only that function may use it.
template <class... Accepted> class ProcessSelf {
 public:
  explicit ProcessSelf(ProcessLife& life) noexcept : life_{&life} {}

  /// Waits for a message that one of the clauses takes; see receive.hpp. Throws ExitNow when the
  /// process must end: let it propagate.
  template <class... Written> auto receive(Written&&... written);

  [[nodiscard]] ActorRef<ProcessActor<Accepted...>> self() const {
    return ActorRef<ProcessActor<Accepted...>>{life_->cell()};
  }
  [[noreturn]] void exit(ExitReason why) const { throw ExitNow{std::move(why)}; }
  /// Throws ExitNow if an exit signal has come. For a process that caught the ExitNow of a stop()
  /// to end at its own pace.
  void check_exit() const { life_->check_exit(); }

  // As in Actor, but Exit and Down are messages here.
  void trap_exit(bool trap = true) const { life_->cell()->trap_exit(trap); }
  void link(const ActorAddress& other) const { life_->cell()->link(other.existing("link")); }
  void unlink(const ActorAddress& other, Flush flush = Flush::no) const {
    life_->cell()->unlink(other.existing("unlink"), flush);
  }
  [[nodiscard]] MonitorRef monitor(const ActorAddress& target) const {
    return life_->cell()->monitor(target.existing("monitor"));
  }
  bool demonitor(MonitorRef monitor, Flush flush = Flush::no) const {
    return life_->cell()->demonitor(monitor, flush);
  }

  /// Spawns an actor that is linked to this process, its parent, before it can be reached.
  template <class A, class... Args>
  ActorRef<A> spawn_link(SpawnOptions options, Args&&... args) const {
    auto child = spawn<A>(executor(), std::move(options), std::forward<Args>(args)...);
    life_->cell()->link_child(*child.cell());
    return child;
  }
  /// The same for a process.
  template <class... Taken, class F>
  ActorRef<ProcessActor<Taken...>> spawn_process_link(const ProcessActorOptions& options,
                                                      F&& function) const;

  [[nodiscard]] Clock& clock() const noexcept { return executor()->clock(); }
  [[nodiscard]] const std::shared_ptr<Executor>& executor() const noexcept {
    return life_->executor();
  }
  /// Parks the process for `time`.
  void sleep_for(Clock::duration time) const { this_process::sleep_for(clock(), time); }

 private:
  ProcessLife* life_;
};

/// The class of a process's address.
template <class... Accepted> class ProcessActor final : public ProcessActorBase {
 public:
  using ProcessActorBase::ProcessActorBase;
  using Mail = std::tuple<Accepted...>;  ///< marks a class that receives mail
};

/// An address of a process.
template <class... Accepted> using ProcessRef = ActorRef<ProcessActor<Accepted...>>;

namespace detail {
template <class... Accepted, class F>
ProcessRef<Accepted...> start_process(std::shared_ptr<Executor> executor,
                                      const ProcessActorOptions& options, ActorCell* linked_to,
                                      F&& function) {
  auto strand = std::make_shared<Strand>(executor, options.capacity, options.overflow);
  auto life = std::make_shared<ProcessLife>(std::move(executor), options.name);
  auto process =
      spawn_on<ProcessActor<Accepted...>>(std::move(strand), std::string{options.name}, life);
  process.cell()->set_alone();
  ProcessLife::start(life, process.cell(), linked_to, options.stack_bytes,
                     [self = ProcessSelf<Accepted...>{*life},
                      function = std::decay_t<F>{std::forward<F>(function)}]() mutable {
                       static_cast<void>(function(self));
                     });
  return process;
}
}  // namespace detail

/// Starts `function(ProcessSelf<Accepted...>&)` as a process. Throws std::bad_alloc if there is no
/// memory for the stack.
template <class... Accepted, class F>
ProcessRef<Accepted...> spawn_process(std::shared_ptr<Executor> executor,
                                      const ProcessActorOptions& options, F&& function) {
  return detail::start_process<Accepted...>(std::move(executor), options, nullptr,
                                            std::forward<F>(function));
}

/// Spawns a process that is linked to `parent` before it starts. For handlers of actors.
template <class... Accepted, class F>
ProcessRef<Accepted...> spawn_process_link(const ActorAddress& parent,
                                           const ProcessActorOptions& options, F&& function) {
  ActorCell& linked = parent.existing("spawn_process_link");
  return detail::start_process<Accepted...>(linked.strand()->shared_executor(), options, &linked,
                                            std::forward<F>(function));
}

template <class... Accepted>
template <class... Taken, class F>
ActorRef<ProcessActor<Taken...>> ProcessSelf<Accepted...>::spawn_process_link(
    const ProcessActorOptions& options, F&& function) const {
  return stoker::spawn_process_link<Taken...>(self(), options, std::forward<F>(function));
}

// --- receive -------------------------------------------------------------------------------------

namespace detail {
/// The index of the first clause that takes the message; the number of clauses if none does.
template <class... Clauses>
[[nodiscard]] std::size_t pick(std::tuple<Clauses...>& clauses, Message& message) {
  return std::apply(
      [&](auto&... clause) {
        std::size_t number = 0;
        const auto takes = [&](auto& one) {
          if constexpr (!is_after<std::remove_cvref_t<decltype(one)>>)
            if (one.takes(message)) return true;
          ++number;
          return false;
        };
        static_cast<void>((takes(clause) || ...));
        return number;
      },
      clauses);
}

template <class Returned, std::size_t I, class Clauses>
Returned run_clause(std::size_t number, Clauses& clauses, Message& message) {
  if constexpr (I < std::tuple_size_v<Clauses>) {
    if constexpr (!is_after<std::tuple_element_t<I, Clauses>>)
      if (number == I) return std::get<I>(clauses).run(message);
    return run_clause<Returned, I + 1>(number, clauses, message);
  } else {
    __builtin_unreachable();
  }
}

template <class Clause, class Mail> [[nodiscard]] consteval bool can_come() {
  if constexpr (is_after<Clause>)
    return true;
  else
    return in_list<typename Clause::Content, Mail> ||
           in_list<typename Clause::Content, std::tuple<Exit, Down>>;
}
}  // namespace detail

template <class... Accepted>
template <class... Written>
auto ProcessSelf<Accepted...>::receive(Written&&... written) {
  std::tuple clauses{detail::clause(std::forward<Written>(written))...};
  using Clauses = decltype(clauses);
  constexpr std::size_t count = sizeof...(Written);
  using Last = std::tuple_element_t<count - 1, Clauses>;
  using Returned = typename Last::Returned;
  []<std::size_t... I>(std::index_sequence<I...>) {
    using Mail = std::tuple<Accepted...>;
    static_assert((detail::can_come<std::tuple_element_t<I, Clauses>, Mail>() && ...),
                  "a clause waits for what this process cannot be sent");
    static_assert(
        (std::is_same_v<typename std::tuple_element_t<I, Clauses>::Returned, Returned> && ...),
        "all clauses return the same type");
    static_assert(((I + 1 == count || !detail::is_after<std::tuple_element_t<I, Clauses>>)&&...),
                  "after() is the last clause");
  }
  (std::make_index_sequence<count>{});
  std::optional<Clock::time_point> until;
  if constexpr (detail::is_after<Last>)
    if (const auto time = std::get<count - 1>(clauses).time; time != Clock::duration::max())
      until = deadline_after(clock().now(), time);
  std::size_t number = count;
  const std::unique_ptr<Message> message = life_->take(
      [&](Message& one) {
        number = detail::pick(clauses, one);
        return number < count;
      },
      until);
  if constexpr (detail::is_after<Last>)
    if (!message) return std::get<count - 1>(clauses).function();
  return detail::run_clause<Returned, 0>(number, clauses, *message);
}

}  // namespace stoker
