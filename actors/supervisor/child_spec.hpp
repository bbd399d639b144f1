// The specification of a supervisor's child: how it is started, when it is restarted, how it is
// stopped. Terms and defaults are OTP's (https://www.erlang.org/doc/apps/stdlib/supervisor.html,
// "child specification").
//
// Threads: values. A start function runs in the supervisor's process: it may wait, and must not
// keep the ChildStart.
#pragma once

#include <any>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "stoker/actors/process_actor.hpp"
#include "stoker/actors/supervisor/child_kind.hpp"

namespace stoker {

/// When a child that has ended is restarted.
enum class Restart : std::uint8_t {
  permanent,  ///< always
  transient,  ///< unless it ended as planned: normal, shutdown, {shutdown, x}
  temporary,  ///< never, and its specification is forgotten
};

/// How a child is stopped.
class Shutdown {
 public:
  /// Sends `shutdown`, then `kill` if the child is still alive after that time.
  Shutdown(std::chrono::nanoseconds patience) noexcept
      : patience_{patience} {}  // NOLINT: a duration is one
  /// Sends `shutdown` and waits without limit.
  [[nodiscard]] static Shutdown infinity() noexcept {
    return Shutdown{std::chrono::nanoseconds::max()};
  }
  /// Sends `kill`.
  [[nodiscard]] static Shutdown brutal_kill() noexcept {
    return Shutdown{std::chrono::nanoseconds::min()};
  }
  [[nodiscard]] bool kills() const noexcept { return patience_ == std::chrono::nanoseconds::min(); }
  [[nodiscard]] bool waits_for_ever() const noexcept {
    return patience_ == std::chrono::nanoseconds::max();
  }
  [[nodiscard]] std::chrono::nanoseconds patience() const noexcept { return patience_; }

 private:
  std::chrono::nanoseconds patience_;
};

/// The argument of a start function.
class ChildStart {
 public:
  ChildStart(ActorCell& supervisor, const std::any& argument) noexcept
      : supervisor_{&supervisor}, argument_{&argument} {}

  [[nodiscard]] const std::shared_ptr<Executor>& executor() const noexcept {
    return supervisor_->strand()->shared_executor();
  }
  /// The argument of start_child() under simple_one_for_one; else empty. Throws std::bad_any_cast.
  template <class T> [[nodiscard]] const T& argument() const {
    return std::any_cast<const T&>(*argument_);
  }
  [[nodiscard]] const std::any& argument() const noexcept { return *argument_; }
  /// The supervisor's own cell, for linking to it.
  [[nodiscard]] ActorCell& supervisor() const noexcept { return *supervisor_; }

  /// Spawns an actor that is linked to the supervisor, its parent, before it can run.
  template <class A, class... Args>
  [[nodiscard]] ActorRef<A> spawn(SpawnOptions options, Args&&... args) const {
    auto child = stoker::spawn<A>(executor(), std::move(options), std::forward<Args>(args)...);
    supervisor_->link_child(*child.cell());
    return child;
  }
  /// The same for a process.
  template <class... Accepted, class F>
  [[nodiscard]] ProcessRef<Accepted...> spawn_process(const ProcessActorOptions& options,
                                                      F&& function) const {
    return detail::start_process<Accepted...>(executor(), options, supervisor_,
                                              std::forward<F>(function));
  }

 private:
  ActorCell* supervisor_;
  const std::any* argument_;
};

struct ChildSpec {
  /// Unique within its supervisor.
  std::string id = {};
  /// Starts the child and returns it once it has started; an empty address: there is nothing to run
  /// (OTP's `ignore`). The supervisor links itself to it. An Error, or what it throws, is a failure.
  std::function<Result<ActorAddress>(const ChildStart&)> start = {};
  Restart restart = Restart::permanent;
  /// Default: 5 s for a worker, infinity for a supervisor.
  std::optional<Shutdown> shutdown = {};
  ChildKind kind = ChildKind::worker;
  /// Whether its planned end may end the supervisor; see AutoShutdown. Not for permanent children.
  bool significant = false;

  [[nodiscard]] Shutdown stopped_by() const noexcept {
    if (shutdown) return *shutdown;
    return kind == ChildKind::supervisor ? Shutdown::infinity() : Shutdown{std::chrono::seconds{5}};
  }
};

/// A child of class A, made with copies of the arguments at each start.
template <class A, class... Args> [[nodiscard]] ChildSpec child(std::string id, Args... args) {
  ChildSpec spec;
  spec.start = [id, ... args = std::move(args)](const ChildStart& start) -> Result<ActorAddress> {
    return ActorAddress{start.spawn<A>({.name = id}, args...)};
  };
  spec.id = std::move(id);
  return spec;
}

/// A child that already runs and is not restarted: puts an existing actor under a supervisor. If it
/// is a supervisor, it must have this one as its `parent`, because it ignores exits of others.
[[nodiscard]] inline ChildSpec running_child(std::string id, ActorAddress actor,
                                             ChildKind kind = ChildKind::worker) {
  ChildSpec spec;
  spec.id = std::move(id);
  spec.restart = Restart::temporary;
  spec.kind = kind;
  spec.start = [actor = std::move(actor)](const ChildStart&) -> Result<ActorAddress> {
    return actor;
  };
  return spec;
}

}  // namespace stoker
