// What a supervisor's process does: waits for the ends of its children and for requests.
//
// Threads: the supervisor's process. Every wait is a receive, so that a kill ends the process at any
// moment; its children then hear of it by their links.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "stoker/actors/supervisor/restart_times.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

using SupervisorSelf =
    ProcessSelf<Request<StartChild, ActorAddress>, Request<StartAnother, ActorAddress>,
                Request<TerminateChild, void>, Request<RestartChild, ActorAddress>,
                Request<DeleteChild, void>, Request<WhichChildren, std::vector<ChildInfo>>,
                Request<CountChildren, ChildCount>, TryAgain>;

class SupervisorLoop {
 public:
  /// `starter`: its parent, if the options name none.
  SupervisorLoop(SupervisorSelf& self, SupervisorOptions options, ActorId starter);

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
    Timer retry = {};
  };
  using Children = std::list<Child>;
  using At = Children::iterator;
  struct Ended {
    std::string child;
    ExitReason why;
  };
  struct Leaving {
    At child;
    ActorAddress actor;
  };
  /// Who was told to end, by the number of the monitor: an order that is that of the telling.
  using AllLeaving = std::map<std::uint64_t, Leaving>;

  void step();
  void on_exit(const Exit& exit);
  void on_end(At child, const ExitReason& reason);
  /// The child of this id may have ended while word of it still lies behind a request of whoever waited for the end.
  void settle_end(const std::string& id);

  // Keeping
  [[nodiscard]] At insert(ChildSpec spec, std::any argument = {});
  void erase(At child);
  /// After its end, or when it has nothing to run.
  void forget_or_keep(At child);

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
  /// Has try_again() called after `wait`.
  void retry(Child& child, std::chrono::nanoseconds wait);
  void try_again(const ChildKey& key);
  [[nodiscard]] std::chrono::nanoseconds delay() const;
  [[nodiscard]] ChildKey key_of(const Child& child) const;

  // Stopping
  void stop(At child) { stop_together({&child, 1}); }
  /// All at once, as the first of them wants to be stopped; the time is one for all.
  void stop_together(std::span<const At> children);
  void stop_group(At failed);
  void stop_all();
  /// Takes out who ends until `patience` has passed.
  void await(AllLeaving& leaving, std::chrono::nanoseconds patience, bool killed);
  void settle(const Leaving& one, ExitReason reason, bool killed);
  /// A significant child has ended.
  void shut_down_if_last();
  [[nodiscard]] Result<void> terminate_child(const ChildKey& key);
  [[nodiscard]] Result<void> delete_child(const std::string& id);

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
  // Not under simple_one_for_one: there all have one id.
  std::unordered_map<std::string_view, At> by_id_;
  RestartTimes restarts_{options_.period};
  std::deque<Ended> last_;  // of the ends that they answer, the last few
  // What came while it waited for children to end:
  std::deque<Exit> later_;
  std::optional<ExitReason> asked_;
  std::optional<ChildSpec> copied_;  // under simple_one_for_one
};

}  // namespace stoker
