#include "stoker/actors/actor_cell.hpp"

#include <algorithm>
#include <utility>

#include "stoker/actors/actor.hpp"
#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/execution/parker.hpp"

namespace stoker {
namespace {

/// Cells that lost their last share while another one was destroyed here. Their memory is kept.
using Unreachable = std::vector<std::pair<ActorCell*, std::weak_ptr<ActorCell>>>;

thread_local void* this_thread_unreachable = nullptr;

// Of the context, because an object's destructor may wait, and a process wake on another thread.
STOKER_THREAD_LOCAL_ACCESS void*& unreachable_here() noexcept {
  BlockingContext* context = blocking_context();
  return context ? context->local : this_thread_unreachable;
}

// Numbers actors, links and monitors of the whole process: they meet across systems.
std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

/// Overtakes messages; never refused for want of space.
class ActorCell::ExitSignal final : public Message {
 public:
  ExitSignal(ActorId from, std::uint64_t link) : exit_{from, {}}, link_{link} { system = true; }
  static void send(std::unique_ptr<ExitSignal> signal, const std::shared_ptr<ActorCell>& target,
                   const ExitReason& why) noexcept {
    signal->exit_.reason = why;
    signal->address(target);
    target->strand_->send_signal(std::move(signal));
  }
  void deliver() override { target().receive(exit_, link_); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(Exit); }

 private:
  Exit exit_;
  std::uint64_t link_;  // 0: sent by exit()
};

/// What a trapping actor is told, behind the messages that came before the signal.
class ActorCell::ExitMessage final : public Message {
 public:
  ExitMessage(const std::shared_ptr<ActorCell>& target, Exit exit)
      : Message{target}, exit_{std::move(exit)} {}
  void deliver() override {
    Actor& actor = *target().actor();
    const ActorId parent = target().parent_.load(std::memory_order_relaxed);
    if (parent != 0 && exit_.from == parent)
      actor.on_parent_exit(exit_);
    else
      actor.on_exit(exit_);
  }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(Exit); }
  [[nodiscard]] void* content(const std::type_info& wanted) noexcept override {
    return wanted == typeid(Exit) ? &exit_ : nullptr;
  }
  [[nodiscard]] ActorId from() const noexcept { return exit_.from; }

 private:
  Exit exit_;
};

class ActorCell::DownMessage final : public Message {
 public:
  explicit DownMessage(Down down) : down_{std::move(down)} {}
  static void send(std::unique_ptr<DownMessage> message, const std::shared_ptr<ActorCell>& watcher,
                   const ExitReason& why) noexcept {
    message->down_.reason = why;
    message->address(watcher);
    watcher->strand_->send_signal(std::move(message));
  }
  void deliver() override {
    taken();
    target().actor()->on_down(down_);
  }
  void taken() noexcept override {
    const std::scoped_lock lock{target().mutex_};
    if (Bonds* bonds = target().bonds_.get()) bonds->watched.erase(down_.monitor.id);
  }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(Down); }
  [[nodiscard]] void* content(const std::type_info& wanted) noexcept override {
    return wanted == typeid(Down) ? &down_ : nullptr;
  }
  [[nodiscard]] MonitorRef monitor() const noexcept { return down_.monitor; }

 private:
  Down down_;
};

/// Ends its actor right after the handler that sent it.
class ActorCell::LeaveMessage final : public Message {
 public:
  LeaveMessage(const std::shared_ptr<ActorCell>& target, ExitReason why)
      : Message{target}, why_{std::move(why)} {
    system = true;
  }
  void deliver() override { target().finish(why_); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(ExitNow); }

 private:
  ExitReason why_;
};

ActorCell::ActorCell(std::shared_ptr<Strand> strand, std::string name)
    : id_{next_number()}, name_{std::move(name)}, strand_{std::move(strand)} {}

ActorCell::~ActorCell() = default;

void ActorCell::set_alone() {
  alone_ = true;
  strand_->set_sole(weak_from_this());
}

void ActorCell::adopt(Actor& actor) noexcept {
  actor_ = &actor;
  actor.cell_ = this;
}

void ActorCell::end_unreachable() noexcept {
  // Not terminate(): on a strand that others share, their handlers may run at this moment, and what
  // terminate() does belongs among them.
  // In a child of fork() those who would be told are the parent's, and so may be the locks on the way.
  if (alive() && strand_->check_process("end")) end(ExitReason::shutdown());
}

void ActorCell::end_without_executor() noexcept {
  if (std::exchange(ending_, true)) return;
  end(ExitReason::executor_gone());
}

void ActorCell::destroy(ActorCell& cell) noexcept {
  if (auto* outer = static_cast<Unreachable*>(unreachable_here())) {
    try {
      outer->emplace_back(&cell, cell.weak_from_this());
      return;
    } catch (...) {  // no memory: deeper, then
    }
    return cell.~ActorCell();
  }
  Unreachable more;
  unreachable_here() = &more;
  cell.~ActorCell();
  while (!more.empty())
    for (const auto& [next, memory] : std::exchange(more, {})) next->~ActorCell();
  unreachable_here() = nullptr;
}

std::optional<ExitReason> ActorCell::reason() const {
  const std::scoped_lock lock{mutex_};
  return reason_;
}

Future<ExitReason> ActorCell::ended() {
  if (const auto here = strand_->check_process("ended"); !here)
    return make_ready_future<ExitReason>(here.error());
  const std::scoped_lock lock{mutex_};
  if (reason_) return make_ready_future<ExitReason>(*reason_);
  auto& end = bonds().end;
  if (!end) end.emplace();
  return end->future();
}

bool ActorCell::at_end(const void* owner, std::string key, std::function<void()> run) {
  if (!strand_->check_process("at_end")) return false;
  const std::scoped_lock lock{mutex_};
  if (freed_) return false;
  auto& all = bonds().at_end;
  const auto earlier = std::ranges::find_if(
      all, [&](const AtEnd& each) { return each.owner == owner && each.key == key; });
  if (earlier != all.end())
    earlier->run.swap(run);  // what it ran goes with the argument, not under the lock
  else
    all.push_back({owner, std::move(key), std::move(run)});
  return true;
}

void ActorCell::forget_at_end(const void* owner, std::string_view key) noexcept {
  const std::scoped_lock lock{mutex_};
  if (bonds_)
    std::erase_if(bonds_->at_end,
                  [&](const AtEnd& each) { return each.owner == owner && each.key == key; });
}

ActorCell::Bonds& ActorCell::bonds() {
  if (!bonds_) bonds_ = std::make_unique<Bonds>();
  return *bonds_;
}

bool ActorCell::linked(ActorId peer, std::uint64_t link) const noexcept {
  if (!bonds_) return false;
  const auto at = bonds_->links.find(peer);
  return at != bonds_->links.end() && at->second.id == link;
}

// --- signals -------------------------------------------------------------------------------------

void ActorCell::exit(const ExitReason& why, ActorId from) {
  if (const auto self = weak_from_this().lock())
    ExitSignal::send(std::make_unique<ExitSignal>(from, 0), self, why);
}

void ActorCell::receive(const Exit& exit, std::uint64_t link) {
  if (link != 0) {
    const std::scoped_lock lock{mutex_};
    if (!linked(exit.from, link)) return;  // unlinked meanwhile
    bonds_->links.erase(exit.from);
  } else if (exit.reason.kind() == ExitReason::Kind::kill) {
    return finish(ExitReason::killed());
  }
  if (trap_exit_)
    strand_->append(std::make_unique<ExitMessage>(shared_from_this(), exit));
  else if (exit.reason.kind() != ExitReason::Kind::normal || exit.from == id_)
    finish(exit.reason);
}

void ActorCell::leave(ExitReason why) {
  strand_->send_signal(std::make_unique<LeaveMessage>(shared_from_this(), std::move(why)));
}

void ActorCell::kill_after(std::chrono::nanoseconds patience) {
  Executor& executor = strand_->executor();
  Clock& clock = executor.clock();
  // Made now: when its time comes there may be no memory for it.
  const auto signal =
      std::make_shared<std::unique_ptr<ExitSignal>>(std::make_unique<ExitSignal>(0, 0));
  Timer killer{clock, deadline_after(clock.now(), patience), executor,
               [weak = weak_from_this(), signal] {
                 if (const auto cell = weak.lock())
                   ExitSignal::send(std::move(*signal), cell, ExitReason::kill());
               }};
  const std::scoped_lock lock{mutex_};
  if (!reason_) bonds().killer = std::move(killer);
}

// --- ties ----------------------------------------------------------------------------------------

void ActorCell::link(ActorCell& other) {
  if (&other == this) return;
  const std::scoped_lock lock{mutex_, other.mutex_};
  const std::uint64_t link = next_number();
  auto to_other = std::make_unique<ExitSignal>(id_, link);
  auto to_this = std::make_unique<ExitSignal>(other.id_, link);
  const auto [own, added] = bonds().links.try_emplace(other.id_);
  if (!added) return;
  own->second = {link, other.weak_from_this(), std::move(to_other)};
  if (!other.alive()) {
    ExitSignal::send(std::move(to_this), shared_from_this(), ExitReason::noproc());
  } else {
    try {
      other.bonds().links.insert_or_assign(id_, Link{link, weak_from_this(), std::move(to_this)});
    } catch (...) {
      bonds_->links.erase(own);
      throw;
    }
  }
  if (!alive())
    ExitSignal::send(std::move(own->second.signal), other.shared_from_this(), ExitReason::noproc());
}

void ActorCell::link_child(ActorCell& child) {
  child.parent_.store(id_, std::memory_order_relaxed);
  link(child);
}

void ActorCell::unlink(ActorCell& other, Flush flush) {
  if (&other == this) return;
  {
    const std::scoped_lock lock{mutex_, other.mutex_};
    const auto cut = [](ActorCell& cell, ActorId peer) {
      if (cell.bonds_) cell.bonds_->links.erase(peer);
    };
    cut(*this, other.id_);
    cut(other, id_);
  }
  if (flush == Flush::yes)
    strand_->remove_if([&](const Message& message) {
      const auto* exit = dynamic_cast<const ExitMessage*>(&message);
      return exit && &exit->target() == this && exit->from() == other.id_;
    });
}

MonitorRef ActorCell::monitor(ActorCell& target) {
  const MonitorRef monitor{next_number()};
  auto note = std::make_unique<DownMessage>(Down{monitor, target.id_, target.name_, {}});
  {
    const std::scoped_lock lock{mutex_};
    bonds().watched.try_emplace(monitor.id, target.weak_from_this());
  }
  try {
    const std::scoped_lock lock{target.mutex_};
    if (target.alive())
      target.bonds().watchers.try_emplace(monitor.id).first->second = {weak_from_this(),
                                                                       std::move(note)};
  } catch (...) {
    const std::scoped_lock lock{mutex_};
    bonds_->watched.erase(monitor.id);
    throw;
  }
  if (note) DownMessage::send(std::move(note), shared_from_this(), ExitReason::noproc());
  return monitor;
}

bool ActorCell::demonitor(MonitorRef monitor, Flush flush) {
  std::shared_ptr<ActorCell> target;
  {
    const std::scoped_lock lock{mutex_};
    if (!bonds_) return false;
    const auto at = bonds_->watched.find(monitor.id);
    if (at == bonds_->watched.end()) return false;
    target = at->second.lock();
    bonds_->watched.erase(at);
  }
  bool watched = false;
  if (target) {
    const std::scoped_lock lock{target->mutex_};
    watched = target->bonds_ && target->bonds_->watchers.erase(monitor.id) > 0;
  }
  if (!watched && flush == Flush::yes)
    strand_->remove_if([&](const Message& message) {
      const auto* down = dynamic_cast<const DownMessage*>(&message);
      return down && down->monitor() == monitor;
    });
  return watched;
}

// --- the end -------------------------------------------------------------------------------------

void ActorCell::finish(ExitReason why) noexcept {
  if (ending_ || !actor_->may_end(why)) return;
  ending_ = true;
  try {
    actor_->terminate(why);
  } catch (const ExitNow& exit) {
    why = exit.reason;
  } catch (...) {
    why = ExitReason::failure(error_from_current_exception(name_));
  }
  end(why);
}

void ActorCell::end(const ExitReason& why) noexcept {
  actor_ = nullptr;
  release();
  free_names();
  std::unique_ptr<Bonds> bonds;
  {
    // Watchers are told under the lock: who demonitors in time hears nothing any more.
    const std::scoped_lock lock{mutex_};
    alive_.store(false, std::memory_order_release);
    reason_ = why;
    bonds = std::move(bonds_);
    if (bonds) tell_watchers(*bonds, why);
  }
  if (!bonds) return;
  tell_links(*bonds, why);
  for (const auto& [monitor, watched] : bonds->watched)
    if (const auto target = watched.lock()) {
      const std::scoped_lock lock{target->mutex_};
      if (target->bonds_) target->bonds_->watchers.erase(monitor);
    }
  if (bonds->end) bonds->end->set(why);
}

void ActorCell::free_names() noexcept {
  std::vector<AtEnd> at_end;
  {
    const std::scoped_lock lock{mutex_};
    freed_ = true;
    if (bonds_) at_end = std::move(bonds_->at_end);
  }
  for (const AtEnd& each : at_end) try {
      each.run();
    } catch (...) {
      detail::log_escaped_exception("actor");
    }
}

void ActorCell::tell_watchers(Bonds& bonds, const ExitReason& why) noexcept {
  for (auto& [monitor, watcher] : bonds.watchers) {
    watcher.told = watcher.who.lock();
    if (watcher.told) DownMessage::send(std::move(watcher.note), watcher.told, why);
  }
}

void ActorCell::tell_links(Bonds& bonds, const ExitReason& why) noexcept {
  for (auto& [id, link] : bonds.links)
    if (const auto peer = link.peer.lock()) {
      // Under the peer's lock: unlink() waits, or has cut the link in time.
      const std::scoped_lock lock{peer->mutex_};
      if (peer->linked(id_, link.id)) ExitSignal::send(std::move(link.signal), peer, why);
    }
}

}  // namespace stoker
