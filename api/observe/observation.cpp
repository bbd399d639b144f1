#include "stoker/api/observe/observation.hpp"

#include <unistd.h>

#include <boost/core/demangle.hpp>
#include <functional>
#include <unordered_set>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/device/supervised_device.hpp"
#include "stoker/api/observe/observing.hpp"
#include "stoker/device/commands/command_scheduler.hpp"

namespace stoker {
namespace {

using State = ActorObservation::State;

/// Now, as whoever waits here counts time.
Clock::time_point now_here() {
  BlockingContext* const context = blocking_context();
  Clock* const clock = context ? context->clock() : nullptr;
  return clock ? clock->now() : std::chrono::steady_clock::now();
}

void describe(const ActorAddress& actor, ActorObservation& seen) {
  const ActorCell& cell = *actor.cell();
  seen.actor = cell.id();
  seen.name = cell.name();
  // Its full name lists all that it can be sent.
  seen.type = cell.type() == typeid(SupervisorProcess) ? "stoker::Supervisor"
                                                       : boost::core::demangle(cell.type().name());
  seen.mailbox_depth = cell.strand()->depth();
  seen.mailbox_capacity = cell.strand()->capacity();
  seen.delivered = cell.strand()->delivered();
}

ActorObservation seen_of(const ChildInfo& child) {
  ActorObservation seen;
  seen.id = child.id;
  seen.kind = child.kind;
  seen.state = child.state;
  seen.restarts = child.restarts;
  if (child.actor) describe(child.actor, seen);
  return seen;
}

ActorObservation seen_of(const Supervisor& root) {
  ActorObservation seen;
  seen.id = root.name();
  seen.kind = ChildKind::supervisor;
  seen.state = root.alive() ? State::running : State::stopped;
  describe(root, seen);
  return seen;
}

/// Asks the supervisors level by level, all of one level at once, so that how long it takes depends on
/// the tree's height only.
class Walk {
 public:
  explicit Walk(std::chrono::nanoseconds patience) : patience_{patience} {}

  ActorObservation from(const Supervisor& root) {
    ActorObservation top = seen_of(root);
    std::vector<Asked> level;
    ask(top, root, level);
    while (!level.empty()) {
      const auto until = deadline_after(now_here(), patience_);
      std::vector<Asked> next;
      for (const Asked& one : level) {
        if (one.answer.wait_until(until))
          take(one, next);
        else
          one.seen->no_answer = "no answer in time";
      }
      level = std::move(next);
    }
    return top;
  }

 private:
  struct Asked {
    ActorObservation* seen;
    Future<std::vector<ChildInfo>> answer;
  };

  void ask(ActorObservation& seen, const Supervisor& who, std::vector<Asked>& level) {
    if (!asked_.insert(who.id()).second) return;  // a tree that bites its tail
    // Our questions stay in the mailbox of one that never looks into it, and must not fill it.
    if (seen.mailbox_depth >= seen.mailbox_capacity / 2) {
      seen.no_answer = "not asked: too much waits in its mailbox";
      return;
    }
    auto answer = who.which_children();
    answer.state()->observe();  // one that comes too late is nobody's business
    level.push_back({&seen, std::move(answer)});
  }

  void take(const Asked& one, std::vector<Asked>& next) {
    const Result<std::vector<ChildInfo>>& children = *one.answer.poll();
    if (!children) {
      one.seen->no_answer = std::string{children.error().reason()};
      return;
    }
    one.seen->children.reserve(children->size());  // who is asked below stays where it is
    for (const ChildInfo& child : *children) {
      ActorObservation& seen = one.seen->children.emplace_back(seen_of(child));
      if (const auto supervisor = try_actor_cast<SupervisorProcess>(child.actor))
        ask(seen, Supervisor{*supervisor}, next);
    }
  }

  const std::chrono::nanoseconds patience_;
  std::unordered_set<ActorId> asked_;
};

std::optional<DeviceObservation> seen_of(const SupervisedDevice& slot) {
  const auto client = slot.current();
  if (!client) return std::nullopt;
  DeviceObservation seen;
  seen.name = slot.name();
  seen.description = client->info().description;
  seen.ready = !client->is_lost();
  seen.reopened = slot.reopened();
  seen.buffers = client->buffers().size();
  seen.pipelines = client->pipelines().load(std::memory_order_relaxed);
  seen.mailbox_depth = client->actor().strand()->depth();
  seen.commands = client->scheduler().stats();
  seen.memory = client->scheduler().pool().stats();
  return seen;
}

/// The process that observes. It keeps the executor until its own stack is out of use, because the
/// system may go meanwhile.
class Observing final : public ProcessBody {
 public:
  explicit Observing(Observed what) : what_{std::move(what)} {}
  [[nodiscard]] Future<SystemObservation> future() const noexcept { return promise_.future(); }

  void run() noexcept override {
    const auto look = [this] { return observe_now(what_); };
    seen_ = detail::call_as_result<SystemObservation>("observe", look);
    what_.devices.clear();  // here, so that what goes with them may wait
    what_.root = {};
  }
  void ended() noexcept override { promise_.set(std::move(seen_)); }
  void lost() noexcept override { promise_.set(detail::broken_promise("observe")); }

 private:
  Observed what_;
  Result<SystemObservation> seen_{Error{}};
  Promise<SystemObservation> promise_;
};

double per_second(std::uint64_t before, std::uint64_t after, double seconds) {
  // Less than before: it was opened anew and counts from nothing.
  return static_cast<double>(after < before ? after : after - before) / seconds;
}

void for_each(const ActorObservation& actor,
              const std::function<void(const ActorObservation&)>& show) {
  show(actor);
  for (const ActorObservation& child : actor.children) for_each(child, show);
}

}  // namespace

SystemObservation observe_now(const Observed& what, std::chrono::nanoseconds patience) {
  SystemObservation seen;
  if (what.root) seen.tree = Walk{patience}.from(what.root);
  for (const auto& slot : what.devices)
    if (auto device = seen_of(*slot)) seen.devices.push_back(std::move(*device));
  seen.time = std::chrono::system_clock::now();
  seen.at = what.executor->clock().now().time_since_epoch();
  seen.pid = static_cast<std::uint64_t>(getpid());
  seen.live_processes = what.executor->live_processes();
  return seen;
}

Future<SystemObservation> observe_later(Observed what) {
  const auto executor = what.executor;
  auto body = std::make_unique<Observing>(std::move(what));
  auto future = body->future();
  ProcessBase::start(*executor, std::move(body), {.name = "observe"});
  return future;
}

ObservationRates rates(const SystemObservation& before, const SystemObservation& after) {
  ObservationRates rates;
  rates.seconds = std::chrono::duration<double>{after.at - before.at}.count();
  if (rates.seconds <= 0) return rates;
  std::map<ActorId, std::uint64_t> delivered;
  if (before.tree)
    for_each(*before.tree,
             [&](const ActorObservation& one) { delivered[one.actor] = one.delivered; });
  if (after.tree)
    for_each(*after.tree, [&](const ActorObservation& one) {
      if (one.actor != 0)
        rates.messages[one.actor] = per_second(delivered[one.actor], one.delivered, rates.seconds);
    });
  std::map<std::string, std::uint64_t> completed;
  for (const DeviceObservation& one : before.devices)
    completed[one.name] = one.commands.commands_completed;
  for (const DeviceObservation& one : after.devices)
    rates.completed[one.name] =
        per_second(completed[one.name], one.commands.commands_completed, rates.seconds);
  return rates;
}

}  // namespace stoker
