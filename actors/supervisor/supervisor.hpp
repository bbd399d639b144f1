// Supervisors: actors that start other actors, in order, and restart them when they end.
//
//     Supervisor pool = start_supervisor(executor, {.name = "pool", .intensity = 10},
//                                        {child<Worker>("one"), child<Worker>("two")}).get();
//
// The rules are OTP's (https://www.erlang.org/doc/apps/stdlib/supervisor.html): children start from
// the first to the last, each after the one before has started, and are stopped in reverse. More
// than `intensity` restarts within `period` end the supervisor, after its children, with
// `shutdown`; a failed restart is retried, and counts, while the supervisor still answers. If the
// first start of a child fails, the children before it are stopped, and start_supervisor() returns
// the error.
//
// Additions to OTP: a back-off between restarts; and a killed child that does not end (C++ cannot
// stop a handler that never returns) is abandoned after a while, and reported.
//
// Threads: any. A supervisor is a process of its own that traps exits; its answers are futures.
// Lifetime: stop() ends it, after its children. So does exit(shutdown) from its parent, from the
// actor that started it, or from outside all actors; exits from others are ignored. Keep its
// address: like any unreachable actor it would end, with its children in no particular order. Once
// told to end, it keeps itself alive.
#pragma once

#include <any>
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "stoker/actors/supervisor/back_off.hpp"
#include "stoker/actors/supervisor/child_spec.hpp"
#include "stoker/actors/supervisor/supervisor_report.hpp"

namespace stoker {

/// Which children are restarted when one ends.
enum class Strategy : std::uint8_t {
  one_for_one,         ///< that child
  one_for_all,         ///< all: they are stopped, then restarted
  rest_for_one,        ///< that child and those started after it
  simple_one_for_one,  ///< that child; all are copies of one specification, started on demand
};

/// Whether the planned end of significant children also ends the supervisor.
enum class AutoShutdown : std::uint8_t { never, any_significant, all_significant };

struct SupervisorOptions {
  std::string name = "supervisor";
  Strategy strategy = Strategy::one_for_one;
  unsigned intensity = 1;
  std::chrono::nanoseconds period = std::chrono::seconds{5};
  AutoShutdown auto_shutdown = AutoShutdown::never;
  BackOff back_off = {};
  /// How long a killed child may take to end before it is abandoned.
  std::chrono::nanoseconds kill_patience = std::chrono::seconds{5};
  /// Called in the supervisor's process for every report, which is also logged.
  std::function<void(const SupervisorReport&)> on_report = {};
  /// Linked to the supervisor before it starts; when it ends, the supervisor does.
  ActorAddress parent = {};
};

struct ChildInfo {
  using State = ChildState;
  std::string id;
  ActorAddress actor;  ///< empty unless running
  State state = State::stopped;
  ChildKind kind = ChildKind::worker;
  std::uint64_t restarts = 0;
};

struct ChildCount {
  std::size_t specs = 0;   ///< children, running or not
  std::size_t active = 0;  ///< running
  std::size_t supervisors = 0;
  std::size_t workers = 0;
};

/// A child by its id or, under simple_one_for_one, by its actor.
using ChildKey = std::variant<std::string, ActorId>;

// Requests to a supervisor.
struct StartChild {
  ChildSpec spec;
};
struct StartAnother {
  std::any argument;
};
struct TerminateChild {
  ChildKey child;
};
struct RestartChild {
  std::string id;
};
struct DeleteChild {
  std::string id;
};
struct WhichChildren {};
struct CountChildren {};
/// Messages of the supervisor to itself.
struct TryAgain {
  ChildKey child;
};

using SupervisorProcess =
    ProcessActor<Request<StartChild, ActorAddress>, Request<StartAnother, ActorAddress>,
                 Request<TerminateChild, void>, Request<RestartChild, ActorAddress>,
                 Request<DeleteChild, void>, Request<WhichChildren, std::vector<ChildInfo>>,
                 Request<CountChildren, ChildCount>, TryAgain>;

/// A supervisor's address.
class Supervisor : public ActorRef<SupervisorProcess> {
 public:
  Supervisor() = default;
  explicit Supervisor(const ActorRef<SupervisorProcess>& process)
      : ActorRef<SupervisorProcess>{process} {}

  /// Appends a child and starts it; the address is empty if its start function had nothing to run.
  /// Errors: already_exists (detail `state`: running, restarting, stopped), invalid_argument, or
  /// why the start failed; then it is not added.
  [[nodiscard]] Future<ActorAddress> start_child(ChildSpec spec) const {
    return call(StartChild{std::move(spec)});
  }
  /// Under simple_one_for_one: starts another child.
  [[nodiscard]] Future<ActorAddress> start_child(std::any argument = {}) const {
    return call(StartAnother{std::move(argument)});
  }
  /// Stops a child and keeps its specification, unless it is temporary. Errors: not_found;
  /// invalid_argument (an id under simple_one_for_one, where all children have the same).
  [[nodiscard]] Future<void> terminate_child(ChildKey child) const {
    return call(TerminateChild{std::move(child)});
  }
  /// Starts a stopped child. Errors: not_found, already_exists (it runs; detail `state`),
  /// invalid_argument (under simple_one_for_one), or why the start failed.
  [[nodiscard]] Future<ActorAddress> restart_child(std::string id) const {
    return call(RestartChild{std::move(id)});
  }
  /// Forgets a stopped child. Errors: not_found, already_exists (it runs; detail `state`),
  /// invalid_argument (under simple_one_for_one).
  [[nodiscard]] Future<void> delete_child(std::string id) const {
    return call(DeleteChild{std::move(id)});
  }
  /// The children in start order.
  [[nodiscard]] Future<std::vector<ChildInfo>> which_children() const {
    return call(WhichChildren{});
  }
  [[nodiscard]] Future<ChildCount> count_children() const { return call(CountChildren{}); }
};

/// Starts a supervisor and its children. Ready when all have started. Errors: invalid_argument (the
/// options or specifications contradict themselves), or why a child did not start.
[[nodiscard]] Future<Supervisor> start_supervisor(std::shared_ptr<Executor> executor,
                                                  SupervisorOptions options,
                                                  std::vector<ChildSpec> children);

/// The same without waiting: requests before all children have started are answered afterwards. If
/// a child does not start, the supervisor ends. Throws invalid_argument.
[[nodiscard]] Supervisor spawn_supervisor(std::shared_ptr<Executor> executor,
                                          SupervisorOptions options,
                                          std::vector<ChildSpec> children);

/// A child that is a supervisor.
[[nodiscard]] ChildSpec supervisor_child(SupervisorOptions options,
                                         std::vector<ChildSpec> children);

}  // namespace stoker
