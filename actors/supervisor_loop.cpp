#include "stoker/actors/supervisor_loop.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "stoker/runtime/log.hpp"

namespace stoker {
namespace {

using Event = SupervisorReport::Event;
using State = ChildInfo::State;

[[nodiscard]] Error unknown_child(std::string_view op, const ChildKey& key) {
  const auto* id = std::get_if<std::string>(&key);
  return {std::string{op},
          ErrorCode::not_found,
          "the supervisor has no such child",
          {{"child", id ? *id : std::to_string(std::get<ActorId>(key))}}};
}

[[nodiscard]] std::string_view to_string(State state) {
  if (state == State::running) return "running";
  return state == State::restarting ? "restarting" : "stopped";
}

[[nodiscard]] Error already(std::string_view op, const std::string& id, State state) {
  return {std::string{op},
          ErrorCode::already_exists,
          "the supervisor has this child",
          {{"child", id}, {"state", std::string{to_string(state)}}}};
}

}  // namespace

SupervisorLoop::SupervisorLoop(SupervisorSelf& self, SupervisorOptions options)
    : self_{self},
      options_{std::move(options)},
      simple_{options_.strategy == Strategy::simple_one_for_one},
      // Its address would keep the parent reachable, which holds this one's.
      parent_{std::exchange(options_.parent, {}).id()} {
  self_.trap_exit();
}

Result<void> SupervisorLoop::start_all(std::vector<ChildSpec> specs) {
  if (simple_) {
    copied_ = std::move(specs.front());
    return {};
  }
  for (ChildSpec& spec : specs) {
    const At child = children_.insert(children_.end(), Child{std::move(spec)});
    const Result<void> started = start(child);
    if (started) continue;
    Error failed = started.error();
    failed = failed.with("child", child->spec.id);
    stop_all();
    return failed;
  }
  return {};
}

void SupervisorLoop::run() {
  ExitReason why;
  try {
    for (;;) step();
  } catch (const ExitNow& exit) {
    why = exit.reason;
  }
  stop_all();
  self_.exit(why);
}

void SupervisorLoop::step() {
  for (const ChildKey& key : std::exchange(overdue_, {})) try_again(key);
  self_.receive([&](const Exit& exit) { on_exit(exit); },
                [&](Request<StartChild, ActorAddress> ask) {
                  ask.reply(simple_ ? Error{"start_child", ErrorCode::invalid_argument,
                                            "all children are copies of one specification"}
                                    : add(std::move((*ask).spec), {}));
                },
                [&](Request<StartAnother, ActorAddress> ask) {
                  ask.reply(simple_ ? add(*copied_, std::move((*ask).argument))
                                    : Error{"start_child", ErrorCode::invalid_argument,
                                            "a child needs a specification"});
                },
                [&](Request<TerminateChild> ask) {
                  const At child = find(ask->child);
                  if (child == children_.end()) {
                    ask.reply(unknown_child("terminate_child", ask->child));
                    return;
                  }
                  stop(*child);
                  forget_or_keep(child);
                  ask.reply();
                },
                [&](Request<RestartChild, ActorAddress> ask) { ask.reply(start_again(ask->id)); },
                [&](Request<DeleteChild> ask) {
                  const At child = find(ask->id);
                  if (child == children_.end()) {
                    ask.reply(unknown_child("delete_child", ask->id));
                  } else if (child->state != State::stopped) {
                    ask.reply(already("delete_child", ask->id, child->state));
                  } else {
                    children_.erase(child);
                    ask.reply();
                  }
                },
                [&](Request<WhichChildren, std::vector<ChildInfo>> ask) { ask.reply(list()); },
                [&](Request<CountChildren, ChildCount> ask) { ask.reply(count()); },
                [&](const TryAgain& again) { try_again(again.child); });
}

// --- ends of children ----------------------------------------------------------------------------

void SupervisorLoop::on_exit(const Exit& exit) {
  const auto at = by_actor_.find(exit.from);
  if (at == by_actor_.end()) {
    // Somebody asks it to end, or its parent has ended. Others' ends are none of its business.
    const bool asked = exit.from == 0 && exit.reason.kind() != ExitReason::Kind::normal;
    if (asked || (exit.from != 0 && exit.from == parent_)) self_.exit(exit.reason);
    return;
  }
  const At child = at->second;
  if (child->state != State::running) return;
  // It ended before it was linked: its cell knows why.
  const bool early = exit.reason.kind() == ExitReason::Kind::noproc;
  const ExitReason why = early ? child->actor.cell()->reason().value_or(exit.reason) : exit.reason;
  child->actor = {};
  child->state = State::stopped;
  on_end(child, why);
}

void SupervisorLoop::on_end(At child, const ExitReason& reason) {
  const Restart rule = child->spec.restart;
  const bool as_planned = reason.planned() && rule != Restart::permanent;
  if (!as_planned) report(Event::child_terminated, *child, reason);
  if (rule == Restart::permanent || (rule == Restart::transient && !as_planned))
    return restart(child, reason);
  const Child ended{child->spec};
  forget_or_keep(child);
  shut_down_with(ended);
}

void SupervisorLoop::forget_or_keep(At child) {
  by_actor_.erase(child->key);
  if (simple_ || child->spec.restart == Restart::temporary) children_.erase(child);
}

void SupervisorLoop::shut_down_with(const Child& ended) {
  if (!ended.spec.significant) return;
  const bool last = options_.auto_shutdown == AutoShutdown::all_significant &&
                    std::ranges::none_of(children_, [](const Child& one) {
                      return one.spec.significant && one.state != State::stopped;
                    });
  if (options_.auto_shutdown == AutoShutdown::any_significant || last)
    self_.exit(ExitReason::shutdown());
}

// --- starting ------------------------------------------------------------------------------------

Result<void> SupervisorLoop::start(At child) {
  const auto attempt = [&]() -> Result<ActorAddress> {
    try {
      return child->spec.start(ChildStart{*self_.self().cell(), child->argument});
    } catch (const ExitNow&) {
      throw;
    } catch (...) {
      return error_from_current_exception(child->spec.id);
    }
  };
  Result<ActorAddress> started = attempt();
  if (!started) {
    child->state = State::stopped;
    report(Event::start_error, *child, ExitReason::failure(started.error()));
    return started.error();
  }
  by_actor_.erase(child->key);
  child->actor = *std::move(started);
  child->state = child->actor ? State::running : State::stopped;
  if (!child->actor) return {};
  child->key = child->actor.id();
  by_actor_.emplace(child->key, child);
  self_.link(child->actor);
  return {};
}

Result<ActorAddress> SupervisorLoop::add(ChildSpec spec, std::any argument) {
  if (!spec.start)
    return Error{"start_child", ErrorCode::invalid_argument, "the child has no start function"};
  if (spec.significant &&
      (spec.restart == Restart::permanent || options_.auto_shutdown == AutoShutdown::never))
    return Error{"start_child",
                 ErrorCode::invalid_argument,
                 "a significant child must not be permanent, and its supervisor must have an "
                 "auto_shutdown",
                 {{"child", spec.id}}};
  if (!simple_)
    if (const At same = find(spec.id); same != children_.end())
      return already("start_child", spec.id, same->state);
  const At child = children_.insert(children_.end(), Child{std::move(spec), std::move(argument)});
  if (const Result<void> started = start(child); !started) {
    children_.erase(child);
    return started.error();
  }
  ActorAddress actor = child->actor;
  if (!actor) forget_or_keep(child);
  return actor;
}

Result<ActorAddress> SupervisorLoop::start_again(const std::string& id) {
  const At child = find(id);
  if (simple_ || child == children_.end()) return unknown_child("restart_child", id);
  if (child->state != State::stopped) return already("restart_child", id, child->state);
  STOKER_TRY(start(child));
  return child->actor;
}

// --- restarting ----------------------------------------------------------------------------------

void SupervisorLoop::restart(At child, const ExitReason& why) {
  count_restart(*child, why);
  stop_group(child);
  begin_again(child);
}

void SupervisorLoop::count_restart(const Child& child, const ExitReason& why) {
  const auto now = self_.clock().now();
  while (!ended_.empty() && now - ended_.front().when > options_.period) ended_.pop_front();
  ended_.push_back({now, child.spec.id, why});
  if (ended_.size() <= options_.intensity) return;
  report(Event::gave_up, child, ExitReason::shutdown());
  self_.exit(ExitReason::shutdown());
}

void SupervisorLoop::begin_again(At child) {
  child->state = State::restarting;
  const auto wait = delay();
  if (wait > std::chrono::nanoseconds::zero())
    child->retry = cast_after(self_.self(), wait, TryAgain{key_of(*child)});
  else
    start_group(child);
}

void SupervisorLoop::start_group(At first) {
  const bool others =
      options_.strategy == Strategy::one_for_all || options_.strategy == Strategy::rest_for_one;
  At child = options_.strategy == Strategy::one_for_all ? children_.begin() : first;
  for (; child != children_.end(); ++child) {
    if (child->state == State::restarting) {
      ++child->restarts;
      if (const Result<void> started = start(child); !started) {
        child->state = State::restarting;
        count_restart(*child, ExitReason::failure(started.error()));
        if (const auto wait = delay(); wait > std::chrono::nanoseconds::zero())
          child->retry = cast_after(self_.self(), wait, TryAgain{key_of(*child)});
        else if (!self_.self().cast(TryAgain{key_of(*child)}))
          overdue_.push_back(key_of(*child));
        return;
      }
    }
    if (!others) return;
  }
}

void SupervisorLoop::try_again(const ChildKey& key) {
  const At child = find(key);
  if (child == children_.end() || child->state != State::restarting) return;
  stop_group(child);
  start_group(child);
}

std::chrono::nanoseconds SupervisorLoop::delay() const {
  const BackOff& rule = options_.back_off;
  if (rule.first <= std::chrono::nanoseconds::zero() || ended_.empty()) return {};
  const double longer = std::pow(rule.factor, static_cast<double>(ended_.size() - 1));
  const double wait = static_cast<double>(rule.first.count()) * longer;
  return wait < static_cast<double>(rule.most.count())
             ? std::chrono::nanoseconds{static_cast<std::int64_t>(wait)}
             : rule.most;
}

ChildKey SupervisorLoop::key_of(const Child& child) const {
  if (simple_) return child.key;
  return child.spec.id;
}

// --- stopping ------------------------------------------------------------------------------------

void SupervisorLoop::stop(Child& child) {
  child.retry = {};
  child.state = State::stopped;
  by_actor_.erase(child.key);
  const ActorAddress actor = std::exchange(child.actor, {});
  if (!actor) return;
  // By a monitor, so that a child which has unlinked itself cannot hold up its supervisor.
  const MonitorRef monitor = self_.monitor(actor);
  self_.unlink(actor, Flush::yes);
  const Shutdown how = child.spec.stopped_by();
  const ActorId me = self_.self().id();
  actor.cell()->exit(how.kills() ? ExitReason::kill() : ExitReason::shutdown(), me);
  auto reason = await(monitor, how.kills() ? options_.kill_patience : how.patience());
  if (!reason && !how.kills()) {
    actor.cell()->exit(ExitReason::kill(), me);
    reason = await(monitor, options_.kill_patience);
  }
  settle_stopped(child, actor, monitor, std::move(reason), how.kills());
}

void SupervisorLoop::settle_stopped(Child& child, const ActorAddress& actor, MonitorRef monitor,
                                    std::optional<ExitReason> reason, bool killed) {
  child.key = actor.id();
  if (!reason) {
    self_.demonitor(monitor, Flush::yes);
    return report(Event::left_behind, child, ExitReason::kill());
  }
  if (reason->kind() == ExitReason::Kind::noproc) reason = actor.cell()->reason();
  if (!reason) return;
  const bool expected = killed ? reason->kind() == ExitReason::Kind::killed
                               : reason->kind() == ExitReason::Kind::shutdown;
  const bool done =
      reason->kind() == ExitReason::Kind::normal && child.spec.restart != Restart::permanent;
  if (!expected && !done) report(Event::shutdown_error, child, *reason);
}

std::optional<ExitReason> SupervisorLoop::await(MonitorRef monitor,
                                                std::chrono::nanoseconds patience) {
  using Ended = std::optional<ExitReason>;
  return self_.receive(when([&](const Down& down) { return down.monitor == monitor; },
                            [](Down down) { return Ended{std::move(down.reason)}; }),
                       after(patience, [] { return Ended{}; }));
}

void SupervisorLoop::stop_group(At failed) {
  if (options_.strategy != Strategy::one_for_all && options_.strategy != Strategy::rest_for_one)
    return;
  for (auto child = children_.end(); child != children_.begin();) {
    --child;
    if (child == failed) {
      if (options_.strategy == Strategy::rest_for_one) return;
      continue;
    }
    stop(*child);
    if (child->spec.restart == Restart::temporary)
      child = children_.erase(child);
    else
      child->state = State::restarting;  // as in OTP also one that had been stopped
  }
}

void SupervisorLoop::stop_all() {
  if (!simple_) {
    while (!children_.empty()) {
      stop(children_.back());
      children_.pop_back();
    }
    return;
  }
  // All at once, in no order; the time-out is one for all.
  struct Stopping {
    Child child;
    ActorAddress actor;
    MonitorRef monitor;
  };
  std::vector<Stopping> all;
  const Shutdown how = copied_ ? copied_->stopped_by() : Shutdown::infinity();
  const ActorId me = self_.self().id();
  for (Child& child : children_) {
    child.retry = {};
    ActorAddress actor = std::exchange(child.actor, {});
    if (!actor) continue;
    const MonitorRef monitor = self_.monitor(actor);
    self_.unlink(actor, Flush::yes);
    actor.cell()->exit(how.kills() ? ExitReason::kill() : ExitReason::shutdown(), me);
    all.push_back({std::move(child), std::move(actor), monitor});
  }
  by_actor_.clear();
  children_.clear();
  const auto until = self_.clock().now();
  const auto left = [&](std::chrono::nanoseconds of) {
    if (of == std::chrono::nanoseconds::max()) return of;
    return std::max(std::chrono::nanoseconds::zero(), until + of - self_.clock().now());
  };
  for (Stopping& one : all) {
    auto reason = await(one.monitor, left(how.kills() ? options_.kill_patience : how.patience()));
    if (!reason && !how.kills()) {
      one.actor.cell()->exit(ExitReason::kill(), me);
      reason = await(one.monitor, options_.kill_patience);
    }
    settle_stopped(one.child, one.actor, one.monitor, std::move(reason), how.kills());
  }
}

// --- telling -------------------------------------------------------------------------------------

SupervisorLoop::At SupervisorLoop::find(const ChildKey& key) {
  if (const auto* actor = std::get_if<ActorId>(&key)) {
    const auto at = by_actor_.find(*actor);
    return at == by_actor_.end() ? children_.end() : at->second;
  }
  return std::ranges::find(children_, std::get<std::string>(key),
                           [](const Child& child) { return child.spec.id; });
}

ChildCount SupervisorLoop::count() const {
  ChildCount count;
  count.specs = simple_ ? 1 : children_.size();
  for (const Child& child : children_) {
    if (child.state == State::running) ++count.active;
    ++(child.spec.kind == ChildKind::supervisor ? count.supervisors : count.workers);
  }
  return count;
}

std::vector<ChildInfo> SupervisorLoop::list() const {
  std::vector<ChildInfo> all;
  all.reserve(children_.size());
  for (const Child& child : children_)
    all.push_back({child.spec.id, child.actor, child.state, child.spec.kind, child.restarts});
  return all;
}

void SupervisorLoop::report(Event event, const Child& child, const ExitReason& reason) {
  const bool logged = log_enabled(LogLevel::error);
  if (!logged && !options_.on_report) return;
  SupervisorReport said{event, options_.name, child.spec.id, child.key, reason, {}};
  std::string chain;
  for (const Ended& one : ended_) {
    said.chain.push_back(one.child + ": " + one.why.to_string());
    chain += (chain.empty() ? "" : " > ") + said.chain.back();
  }
  if (logged)
    log_error(stoker::to_string(event), {{"supervisor", said.supervisor},
                                         {"child", said.child},
                                         {"actor", std::to_string(said.actor)},
                                         {"reason", reason.to_string()},
                                         {"chain", std::move(chain)}});
  if (options_.on_report) options_.on_report(said);
}

}  // namespace stoker
