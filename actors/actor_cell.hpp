// What the system knows of one actor, beside the object itself: its identity, whether it lives, why
// it ended, and whom it is tied to by links and monitors.
//
// Links and monitors keep OTP's rules (https://www.erlang.org/doc/system/ref_man_processes.html).
// Both sides of a tie are changed under both cells' locks, so that a pair is linked at most once and,
// once unlink() has returned, its link has no effect any more. Signals travel as envelopes: an exit
// signal overtakes messages, as in OTP it takes effect where it is received; what a trapping actor
// is told of it, and what a watcher is told, queues behind the messages sent before.
//
// Whoever asks to be told pays for it: link() and monitor() allocate the signal, and throw std::bad_alloc
// with nothing changed. The end of an actor allocates nothing.
//
//     alive ──finish(reason)──▶ terminate() ▶ object destroyed ▶ names free ▶ dead, ties are told
//
// Threads: any, but for what is marked [strand]. Lifetime: an actor that no address and no message
// refers to any more can never be reached again; it ends with `shutdown`, on whichever thread let go
// of it last, so its destructor is called and terminate() is not. If it goes with another actor's
// object, it ends right after that. Links and monitors are no addresses. An actor whose executor has
// gone ends likewise when the next message for it comes, or when one that queued is dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "stoker/actors/actor_id.hpp"
#include "stoker/actors/exit_reason.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

class Actor;
class Strand;

/// One call of monitor().
struct MonitorRef {
  std::uint64_t id = 0;
  friend bool operator==(MonitorRef, MonitorRef) noexcept = default;
};

/// A linked actor has ended, or somebody asks this one to: what an actor that traps exits is told.
struct Exit {
  ActorId from = 0;  ///< 0: the program, from outside of all actors
  ExitReason reason;
};

/// A watched actor has ended.
struct Down {
  MonitorRef monitor;
  ActorId from = 0;
  std::string name;  ///< of the actor that ended
  ExitReason reason;
};

/// Whether what already queues of a tie is taken out of the mailbox, too.
enum class Flush : std::uint8_t { no, yes };

class ActorCell : public std::enable_shared_from_this<ActorCell> {
 public:
  ActorCell(const ActorCell&) = delete;
  ActorCell& operator=(const ActorCell&) = delete;
  virtual ~ActorCell();

  [[nodiscard]] ActorId id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::shared_ptr<Strand>& strand() const noexcept { return strand_; }
  /// Whether it shares its strand with nobody: then the strand keeps it while messages wait.
  [[nodiscard]] bool alone() const noexcept { return alone_; }
  /// Says so. Before anybody can send to it.
  void set_alone();
  /// False from the moment on in which its links and watchers are told.
  [[nodiscard]] bool alive() const noexcept { return alive_.load(std::memory_order_acquire); }
  /// Why it ended; empty while it lives.
  [[nodiscard]] std::optional<ExitReason> reason() const;
  /// Ready when it has ended, also if it ends before it is asked.
  [[nodiscard]] Future<ExitReason> ended();

  /// Sends an exit signal, as OTP's exit/2: `kill` ends it whatever it traps; `normal` is ignored
  /// unless it traps exits or sent it itself. `from` 0: the program, from outside of all actors.
  void exit(const ExitReason& why, ActorId from = 0);

  /// Kills it if it lives that long, on its executor's clock.
  void kill_after(std::chrono::nanoseconds patience);
  /// Ends after the handler that runs now, whatever it traps.  [strand]
  void leave(ExitReason why);

  /// Has `run` called when the actor ends, after its object is gone and before anybody is told: for
  /// what is visible of it elsewhere, such as names. `owner` and `key` say which; a second call with
  /// the same replaces the first. False if it has ended: nothing will be called.
  [[nodiscard]] bool at_end(const void* owner, std::string key, std::function<void()> run);
  /// Forgets what at_end() was told.
  void forget_at_end(const void* owner, std::string_view key) noexcept;
  /// The object's class.
  [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;

  /// The object. Null once it has ended.  [strand]
  [[nodiscard]] Actor* actor() const noexcept { return actor_; }
  /// Ends it; later calls do nothing.  [strand]
  void finish(ExitReason why) noexcept;
  /// Ends it with `shutdown` and without terminate(), because nothing of it can run any more.  [strand]
  void end_without_executor() noexcept;
  /// Calls the destructor of a cell that has lost its last share: now, or behind the one that this
  /// context is destroying, so that a long chain of actors needs no deep stack.
  static void destroy(ActorCell& cell) noexcept;

  // Of this actor, by itself.  [strand]
  void trap_exit(bool trap) noexcept { trap_exit_ = trap; }
  void link(ActorCell& other);
  /// link(), and from now on this one is the child's parent: Actor::on_parent_exit().
  void link_child(ActorCell& child);
  void unlink(ActorCell& other, Flush flush);
  [[nodiscard]] MonitorRef monitor(ActorCell& target);
  /// False if the target had ended: its Down queues or has been told.
  bool demonitor(MonitorRef monitor, Flush flush);

 protected:
  ActorCell(std::shared_ptr<Strand> strand, std::string name);
  void adopt(Actor& actor) noexcept;
  /// From the destructor of a class that holds the object.
  void end_unreachable() noexcept;
  /// Destroys the object, or lets go of it.  [strand]
  virtual void release() noexcept = 0;

 private:
  class ExitSignal;
  class ExitMessage;
  class DownMessage;
  class LeaveMessage;
  struct Link {
    std::uint64_t id;
    std::weak_ptr<ActorCell> peer;
    std::unique_ptr<ExitSignal> signal;  ///< for the peer
  };
  struct Watcher {
    std::weak_ptr<ActorCell> who;
    std::unique_ptr<DownMessage> note;
    std::shared_ptr<ActorCell> told = {};  ///< the last share must not go under the lock
  };
  struct AtEnd {
    const void* owner;
    std::string key;
    std::function<void()> run;
  };
  /// Most actors have none. A supervisor has as many as children: nothing here is searched through.
  struct Bonds {
    std::map<ActorId, Link> links;  ///< by the other one
    // By the number of a monitor:
    std::map<std::uint64_t, Watcher> watchers;
    std::map<std::uint64_t, std::weak_ptr<ActorCell>> watched;
    std::optional<Promise<ExitReason>> end;  ///< one for all who asked
    std::vector<AtEnd> at_end;
    Timer killer;
  };

  Bonds& bonds();
  /// The link is still there.  [lock held]
  [[nodiscard]] bool linked(ActorId peer, std::uint64_t link) const noexcept;
  void receive(const Exit& exit, std::uint64_t link);
  /// All of the end but terminate().
  void end(const ExitReason& why) noexcept;
  /// Calls what at_end() was told.
  void free_names() noexcept;
  static void tell_watchers(Bonds& bonds, const ExitReason& why) noexcept;
  void tell_links(Bonds& bonds, const ExitReason& why) noexcept;

  const ActorId id_;
  const std::string name_;
  const std::shared_ptr<Strand> strand_;
  Actor* actor_ = nullptr;
  std::atomic<ActorId> parent_{0};
  bool alone_ = false;
  bool trap_exit_ = false;
  bool ending_ = false;
  std::atomic<bool> alive_{true};
  mutable std::mutex mutex_;  // of what follows
  std::unique_ptr<Bonds> bonds_;
  bool freed_ = false;  // at_end() comes too late
  std::optional<ExitReason> reason_;
};

}  // namespace stoker
