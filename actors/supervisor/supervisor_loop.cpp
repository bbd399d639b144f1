#include "stoker/actors/supervisor/supervisor_loop.hpp"

#include <algorithm>
#include <cmath>

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

/// Under simple_one_for_one an id says nothing.
[[nodiscard]] Error needs_actor(std::string_view op, const std::string& id) {
  return {std::string{op},
          ErrorCode::invalid_argument,
          "under simple_one_for_one all children have the same id: a child is terminated by its "
          "actor's id, and then forgotten",
          {{"child", id}}};
}

[[nodiscard]] Error already(std::string_view op, const std::string& id, State state) {
  return {std::string{op},
          ErrorCode::already_exists,
          "the supervisor has this child",
          {{"child", id}, {"state", std::string{to_string(state)}}}};
}

}  // namespace

SupervisorLoop::SupervisorLoop(SupervisorSelf& self, SupervisorOptions options, ActorId starter)
    : self_{self},
      options_{std::move(options)},
      simple_{options_.strategy == Strategy::simple_one_for_one},
      // Its address would keep the parent reachable, which holds this one's.
      parent_{options_.parent ? std::exchange(options_.parent, {}).id() : starter} {
  self_.trap_exit();
}

Result<void> SupervisorLoop::start_all(std::vector<ChildSpec> specs) {
  if (simple_) {
    copied_ = std::move(specs.front());
    return {};
  }
  for (ChildSpec& spec : specs) {
    const At child = insert(std::move(spec));
    const Result<void> started = start(child);
    if (started && !child->actor) forget_or_keep(child);
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
    self_.check_exit();  // killed: its children hear of it by their links
    why = exit.reason;
  } catch (...) {
    why = ExitReason::failure(error_from_current_exception(options_.name));
  }
  stop_all();
  self_.exit(why);
}

void SupervisorLoop::step() {
  if (asked_) self_.exit(*asked_);
  for (; !later_.empty(); later_.pop_front()) on_exit(Exit{later_.front()});
  self_.receive([&](const Exit& exit) { on_exit(exit); },
                [](const Down&) {},  // of a child that was left behind
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
                [&](Request<TerminateChild> ask) { ask.reply(terminate_child(ask->child)); },
                [&](Request<RestartChild, ActorAddress> ask) { ask.reply(start_again(ask->id)); },
                [&](Request<DeleteChild> ask) { ask.reply(delete_child(ask->id)); },
                [&](Request<WhichChildren, std::vector<ChildInfo>> ask) { ask.reply(list()); },
                [&](Request<CountChildren, ChildCount> ask) { ask.reply(count()); },
                [&](const TryAgain& again) { try_again(again.child); });
}

// --- ends of children ----------------------------------------------------------------------------

void SupervisorLoop::on_exit(const Exit& exit) {
  const auto at = by_actor_.find(exit.from);
  if (at == by_actor_.end()) {
    // The program asks it to end, or its parent does or has ended. Others are none of its business.
    const bool asked = exit.from == 0 && exit.reason.kind() != ExitReason::Kind::normal;
    if (asked || (exit.from != 0 && exit.from == parent_)) self_.exit(exit.reason);
    return;
  }
  const At child = at->second;
  if (child->state != State::running) return;
  if (child->actor.alive()) return;  // it has called exit(), and is not the parent
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
  const bool significant = child->spec.significant;
  forget_or_keep(child);
  if (significant) shut_down_if_last();
}

void SupervisorLoop::shut_down_if_last() {
  const bool last = options_.auto_shutdown == AutoShutdown::all_significant &&
                    std::ranges::none_of(children_, [](const Child& one) {
                      return one.spec.significant && one.state != State::stopped;
                    });
  if (options_.auto_shutdown == AutoShutdown::any_significant || last)
    self_.exit(ExitReason::shutdown());
}

void SupervisorLoop::settle_end(const std::string& id) {
  const At child = find(id);
  if (child == children_.end() || child->state != State::running || child->actor.alive()) return;
  on_exit(Exit{child->key, child->actor.cell()->reason().value_or(ExitReason::noproc())});
}

// --- keeping -------------------------------------------------------------------------------------

SupervisorLoop::At SupervisorLoop::insert(ChildSpec spec, std::any argument) {
  const At child = children_.insert(children_.end(), Child{std::move(spec), std::move(argument)});
  if (!simple_) by_id_.emplace(child->spec.id, child);
  return child;
}

void SupervisorLoop::erase(At child) {
  by_actor_.erase(child->key);
  if (!simple_) by_id_.erase(child->spec.id);
  children_.erase(child);
}

void SupervisorLoop::forget_or_keep(At child) {
  if (simple_ || child->spec.restart == Restart::temporary)
    erase(child);
  else
    by_actor_.erase(child->key);
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
  self_.self().cell()->link_child(*child->actor.cell());
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
  if (!simple_) {
    settle_end(spec.id);
    if (const At same = find(spec.id); same != children_.end())
      return already("start_child", spec.id, same->state);
  }
  const At child = insert(std::move(spec), std::move(argument));
  if (const Result<void> started = start(child); !started) {
    erase(child);
    return started.error();
  }
  ActorAddress actor = child->actor;
  if (!actor) forget_or_keep(child);
  return actor;
}

Result<ActorAddress> SupervisorLoop::start_again(const std::string& id) {
  if (simple_) return needs_actor("restart_child", id);
  settle_end(id);
  const At child = find(id);
  if (child == children_.end()) return unknown_child("restart_child", id);
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
  restarts_.add(self_.clock().now());
  last_.push_back({child.spec.id, why});
  while (last_.size() > std::min(SupervisorReport::chain_length, restarts_.count()))
    last_.pop_front();
  if (restarts_.count() <= options_.intensity) return;
  report(Event::gave_up, child, ExitReason::shutdown());
  self_.exit(ExitReason::shutdown());
}

void SupervisorLoop::begin_again(At child) {
  child->state = State::restarting;
  const auto wait = delay();
  if (wait > std::chrono::nanoseconds::zero())
    retry(*child, wait);
  else
    start_group(child);
}

void SupervisorLoop::start_group(At first) {
  const bool others =
      options_.strategy == Strategy::one_for_all || options_.strategy == Strategy::rest_for_one;
  At next = options_.strategy == Strategy::one_for_all ? children_.begin() : first;
  while (next != children_.end()) {
    const At child = next++;
    if (child->state == State::restarting) {
      ++child->restarts;
      if (const Result<void> started = start(child); !started) {
        child->state = State::restarting;
        count_restart(*child, ExitReason::failure(started.error()));
        return retry(*child, delay());
      }
      if (!child->actor) forget_or_keep(child);
    }
    if (!others) return;
  }
}

void SupervisorLoop::retry(Child& child, std::chrono::nanoseconds wait) {
  // Requests that fill the mailbox must not keep it out: then nobody would ever try again.
  const auto send = [weak = std::weak_ptr{self_.self().cell()}, key = key_of(child)] {
    if (const auto self = weak.lock())
      self->strand()->send_signal(std::make_unique<MailMessage<TryAgain>>(self, TryAgain{key}));
  };
  if (wait <= std::chrono::nanoseconds::zero()) return send();
  Clock& clock = self_.clock();
  child.retry = Timer{clock, deadline_after(clock.now(), wait), *self_.executor(), send};
}

void SupervisorLoop::try_again(const ChildKey& key) {
  const At child = find(key);
  if (child == children_.end() || child->state != State::restarting) return;
  stop_group(child);
  start_group(child);
}

std::chrono::nanoseconds SupervisorLoop::delay() const {
  const BackOff& rule = options_.back_off;
  if (rule.first <= std::chrono::nanoseconds::zero() || restarts_.count() == 0) return {};
  const double longer = std::pow(rule.factor, static_cast<double>(restarts_.count() - 1));
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

void SupervisorLoop::stop_together(std::span<const At> children) {
  const Shutdown how = children.front()->spec.stopped_by();
  const bool kills = how.kills();
  const ActorId me = self_.self().id();
  AllLeaving leaving;
  for (const At child : children) {
    child->retry = {};
    child->state = State::stopped;
    by_actor_.erase(child->key);
    const ActorAddress actor = std::exchange(child->actor, {});
    if (!actor) continue;
    // By a monitor, so that a child which has unlinked itself cannot hold up its supervisor. An Exit
    // of it that queues is nobody's any more.
    leaving.emplace(self_.monitor(actor).id, Leaving{child, actor});
    // Told before it is unlinked: if there is no memory to tell it, the link does.
    actor.cell()->exit(kills ? ExitReason::kill() : ExitReason::shutdown(), me);
    self_.unlink(actor);
  }
  await(leaving, kills ? options_.kill_patience : how.patience(), kills);
  if (!kills) {
    for (const auto& [monitor, one] : leaving) one.actor.cell()->exit(ExitReason::kill(), me);
    await(leaving, options_.kill_patience, kills);
  }
  for (const auto& [monitor, one] : leaving) {
    self_.demonitor(MonitorRef{monitor});
    report(Event::left_behind, *one.child, ExitReason::kill());
  }
}

void SupervisorLoop::await(AllLeaving& leaving, std::chrono::nanoseconds patience, bool killed) {
  const auto begin = self_.clock().now();
  while (!leaving.empty()) try {
      const auto waited = self_.clock().now() - begin;
      const bool for_ever = patience == std::chrono::nanoseconds::max();
      bool over = false;
      // Whatever comes in between is taken out at once: who stops many looks through it for each.
      self_.receive(
          [&](const Exit& exit) { later_.push_back(exit); },
          [&](const Down& down) {
            const auto at = leaving.find(down.monitor.id);
            if (at == leaving.end()) return;
            settle(at->second, down.reason, killed);
            leaving.erase(at);
          },
          after(for_ever ? patience : std::max(patience - waited, {}), [&] { over = true; }));
      if (over) return;
    } catch (const ExitNow& exit) {
      self_.check_exit();
      if (!asked_) asked_ = exit.reason;  // stop(): when this is done
    }
}

void SupervisorLoop::settle(const Leaving& one, ExitReason reason, bool killed) {
  // It had ended before it was told to: its cell knows why.
  if (reason.kind() == ExitReason::Kind::noproc)
    reason = one.actor.cell()->reason().value_or(reason);
  const bool expected = killed ? reason.kind() == ExitReason::Kind::killed
                               : reason.kind() == ExitReason::Kind::shutdown;
  const bool done =
      reason.kind() == ExitReason::Kind::normal && one.child->spec.restart != Restart::permanent;
  if (!expected && !done) report(Event::shutdown_error, *one.child, reason);
}

Result<void> SupervisorLoop::terminate_child(const ChildKey& key) {
  if (const auto* id = std::get_if<std::string>(&key); id && simple_)
    return needs_actor("terminate_child", *id);
  const At child = find(key);
  if (child == children_.end()) return unknown_child("terminate_child", key);
  stop(child);
  forget_or_keep(child);
  return {};
}

Result<void> SupervisorLoop::delete_child(const std::string& id) {
  if (simple_) return needs_actor("delete_child", id);
  settle_end(id);
  const At child = find(id);
  if (child == children_.end()) return unknown_child("delete_child", id);
  if (child->state != State::stopped) return already("delete_child", id, child->state);
  erase(child);
  return {};
}

void SupervisorLoop::stop_group(At failed) {
  if (options_.strategy != Strategy::one_for_all && options_.strategy != Strategy::rest_for_one)
    return;
  for (auto next = children_.end(); next != children_.begin();) {
    const At child = --next;
    if (child == failed) {
      if (options_.strategy == Strategy::rest_for_one) return;
      continue;
    }
    stop(child);
    child->state = State::restarting;  // as in OTP also one that had been stopped
    if (child->spec.restart != Restart::temporary) continue;
    ++next;
    erase(child);
  }
}

void SupervisorLoop::stop_all() {
  // Nobody may have its address any more; then it would end at the first wait, and its children with
  // it in no order.
  const ActorAddress me = self_.self();
  if (!simple_) {
    while (!children_.empty()) {
      const At last = std::prev(children_.end());
      stop(last);
      erase(last);
    }
    return;
  }
  // All at once, in no order; the time-out is one for all.
  std::vector<At> all;
  for (At child = children_.begin(); child != children_.end(); ++child) all.push_back(child);
  if (!all.empty()) stop_together(all);
  children_.clear();
}

// --- telling -------------------------------------------------------------------------------------

SupervisorLoop::At SupervisorLoop::find(const ChildKey& key) {
  if (const auto* actor = std::get_if<ActorId>(&key)) {
    const auto at = by_actor_.find(*actor);
    return at == by_actor_.end() ? children_.end() : at->second;
  }
  const auto at = by_id_.find(std::get<std::string>(key));
  return at == by_id_.end() ? children_.end() : at->second;
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
  SupervisorReport said{event, options_.name, child.spec.id, child.key, reason, restarts_.count(),
                        {}};
  if (event == Event::gave_up)
    for (const Ended& one : last_)
      said.chain.push_back(
          cut_short(one.child + ": " + one.why.to_string(), SupervisorReport::chain_bytes));
  log_report(said);
  if (!options_.on_report) return;
  try {
    options_.on_report(said);
  } catch (const ExitNow&) {
    throw;
  } catch (...) {
    detail::log_escaped_exception("on_report");
  }
}

}  // namespace stoker
