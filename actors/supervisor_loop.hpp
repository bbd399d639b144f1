// What a supervisor's process does: waits for the ends of its children and for requests.
//
// Threads: the supervisor's process. Every wait is a receive, so that a kill ends the process at any
// moment; its children then hear of it by their links.
#pragma once

#include <deque>
#include <list>
#include <unordered_map>

#include "stoker/actors/supervisor.hpp"
#include "stoker/actors/timed_send.hpp"

namespace stoker {

using SupervisorSelf =
    ProcessSelf<Request<StartChild, ActorAddress>, Request<StartAnother, ActorAddress>,
                Request<TerminateChild, void>, Request<RestartChild, ActorAddress>,
                Request<DeleteChild, void>, Request<WhichChildren, std::vector<ChildInfo>>,
                Request<CountChildren, ChildCount>, TryAgain>;

class SupervisorLoop {
 public:
  SupervisorLoop(SupervisorSelf& self, SupervisorOptions options);

  /// Starts the children in order; if one fails, those before it are stopped again.
  [[nodiscard]] Result<void> start_all(std::vector<ChildSpec> specs);
  /// Until it is told to end, or gives up; then stops the children and exits.
  [[noreturn]] void run();

 private:
  struct Child {
    ChildSpec spec;
    std::any argument = {};
    ActorAddress actor = {};
    ActorId key = 0;  ///< of the actor that runs or ran last
    ChildInfo::State state = ChildInfo::State::stopped;
    std::uint64_t restarts = 0;
    SendTimer retry = {};
  };
  using Children = std::list<Child>;
  using At = Children::iterator;
  struct Ended {
    Clock::time_point when;
    std::string child;
    ExitReason why;
  };

  void step();
  void on_exit(const Exit& exit);
  void on_end(At child, const ExitReason& reason);

  // Starting
  [[nodiscard]] Result<void> start(At child);
  [[nodiscard]] Result<ActorAddress> add(ChildSpec spec, std::any argument);
  [[nodiscard]] Result<ActorAddress> start_again(const std::string& id);

  // Restarting
  void restart(At child, const ExitReason& why);
  /// Notes a restart, or throws ExitNow if there were too many.
  void count_restart(const Child& child, const ExitReason& why);
  /// Starts the child and whom else its end concerned, now or after the back-off.
  void begin_again(At child);
  void start_group(At first);
  void try_again(const ChildKey& key);
  [[nodiscard]] std::chrono::nanoseconds delay() const;
  [[nodiscard]] ChildKey key_of(const Child& child) const;

  // Stopping
  void stop(Child& child);
  void stop_group(At failed);
  void stop_all();
  /// How it ended; nothing if `patience` passed first.
  [[nodiscard]] std::optional<ExitReason> await(MonitorRef monitor,
                                                std::chrono::nanoseconds patience);
  void settle_stopped(Child& child, const ActorAddress& actor, MonitorRef monitor,
                      std::optional<ExitReason> reason, bool killed);
  void forget_or_keep(At child);
  void shut_down_with(const Child& ended);

  [[nodiscard]] At find(const ChildKey& key);
  [[nodiscard]] ChildCount count() const;
  [[nodiscard]] std::vector<ChildInfo> list() const;
  void report(SupervisorReport::Event event, const Child& child, const ExitReason& reason);

  SupervisorSelf& self_;
  SupervisorOptions options_;
  const bool simple_;
  const ActorId parent_;
  Children children_;
  std::unordered_map<ActorId, At> by_actor_;
  std::deque<Ended> ended_;  // the restarts within the period
  std::vector<ChildKey> overdue_;
  std::optional<ChildSpec> copied_;  // under simple_one_for_one
};

}  // namespace stoker
