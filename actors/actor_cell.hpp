// The runtime's record of one actor, apart from the object itself: its identity, whether it is
// alive, why it ended, and its links and monitors.
//
// Links and monitors keep OTP's rules (https://www.erlang.org/doc/system/ref_man_processes.html).
// Both ends of a link or monitor change under both cells' locks, so a pair is linked at most once,
// and a link has no effect after unlink() has returned. Signals travel as envelopes. An exit signal
// overtakes messages and, as in OTP, takes effect at the receiver. The Exit for a trapping actor
// and the Down for a monitoring one queue behind earlier messages.
//
// link() and monitor() allocate the later signal in advance; if they throw std::bad_alloc, nothing
// has changed. So the end of an actor allocates nothing.
//
//     alive ──finish(reason)──▶ terminate() ▶ object destroyed ▶ names free ▶ dead, ties are told
//
// Threads: any, except for functions marked [strand]. Lifetime: an actor to which no address and no
// message refers is unreachable. It ends with `shutdown` on the thread that dropped the last
// reference: its destructor runs, terminate() does not. If that reference was in another actor's
// object, it ends right after that one. Links and monitors do not keep it reachable. An actor whose
// executor is gone ends in the same way when the next message arrives, or when a queued one is
// dropped.
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

/// The notice to an actor that traps exits: a linked actor has ended, or exit() was sent to it.
struct Exit {
  ActorId from = 0;  ///< 0: the program, from outside of all actors
  ExitReason reason;
};

/// The notice that a monitored actor has ended.
struct Down {
  MonitorRef monitor;
  ActorId from = 0;
  std::string name;  ///< of the actor that ended
  ExitReason reason;
};

/// Whether to remove notices of a link or monitor that are already queued.
enum class Flush : std::uint8_t { no, yes };

class ActorCell : public std::enable_shared_from_this<ActorCell> {
 public:
  ActorCell(const ActorCell&) = delete;
  ActorCell& operator=(const ActorCell&) = delete;
  virtual ~ActorCell();

  [[nodiscard]] ActorId id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::shared_ptr<Strand>& strand() const noexcept { return strand_; }
  /// Whether it is the only actor on its strand: then the strand keeps it alive while messages
  /// wait.
  [[nodiscard]] bool alone() const noexcept { return alone_; }
  /// Marks it as alone. Call before anybody can send to it.
  void set_alone();
  /// False from the moment its links and monitors are notified.
  [[nodiscard]] bool alive() const noexcept { return alive_.load(std::memory_order_acquire); }
  /// Why it ended; empty while it lives.
  [[nodiscard]] std::optional<ExitReason> reason() const;
  /// Ready when it has ended, even if that was before this call.
  [[nodiscard]] Future<ExitReason> ended();

  /// Sends an exit signal, like OTP's exit/2: `kill` ends it even if it traps exits; `normal` is
  /// ignored unless it traps exits or is the sender. `from` 0: the program, outside all actors.
  void exit(const ExitReason& why, ActorId from = 0);

  /// Kills it if it is still alive after `patience`, on its executor's clock.
  void kill_after(std::chrono::nanoseconds patience);
  /// Ends it after the current handler, even if it traps exits. [strand]
  void leave(ExitReason why);

  /// Registers `run` for the actor's end: called after the object is destroyed and before links and
  /// monitors are notified, to remove traces such as names. `owner` and `key` identify it; a second
  /// call with the same ones replaces it. Returns false, without registering, if the actor has
  /// ended.
  [[nodiscard]] bool at_end(const void* owner, std::string key, std::function<void()> run);
  /// Removes a function registered by at_end().
  void forget_at_end(const void* owner, std::string_view key) noexcept;
  /// The object's class.
  [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;

  /// The object. Null once it has ended.  [strand]
  [[nodiscard]] Actor* actor() const noexcept { return actor_; }
  /// Ends it; later calls do nothing.  [strand]
  void finish(ExitReason why) noexcept;
  /// Ends it with `shutdown` and without terminate(), because nothing of it can run any more.  [strand]
  void end_without_executor() noexcept;
  /// Destroys a cell whose last reference is gone: now, or after the cell that this context is
  /// destroying, so that a long chain of actors needs no deep stack.
  static void destroy(ActorCell& cell) noexcept;

  // Called by this actor itself. [strand]
  void trap_exit(bool trap) noexcept { trap_exit_ = trap; }
  void link(ActorCell& other);
  /// link(), and makes this actor the child's parent: see Actor::on_parent_exit().
  void link_child(ActorCell& child);
  void unlink(ActorCell& other, Flush flush);
  [[nodiscard]] MonitorRef monitor(ActorCell& target);
  /// False if the target had ended: its Down is queued or delivered.
  bool demonitor(MonitorRef monitor, Flush flush);

 protected:
  ActorCell(std::shared_ptr<Strand> strand, std::string name);
  void adopt(Actor& actor) noexcept;
  /// Called by the destructor of the class that holds the object.
  void end_unreachable() noexcept;
  /// Destroys the object, or drops its reference. [strand]
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
    // By monitor number:
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
  /// Does everything that ends the actor, except terminate().
  void end(const ExitReason& why) noexcept;
  /// Calls the functions that at_end() has registered.
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
