// How commands end: completions, failures and what they poison, a lost device.
#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/device/shell.hpp"
#include "stoker/runtime/base/sanitizers.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

constexpr std::size_t max_poison = 16;

/// The end of a command that has succeeded, once what it brings has been taken over. An executor may go
/// without running it; then the command ends all the same.
class LateEnd {
 public:
  using Result = std::function<void(const Error* failure)>;
  LateEnd(CommandPtr command, Result on_result)
      : command_{std::move(command)}, on_result_{std::move(on_result)} {}
  ~LateEnd() {
    if (!command_) return;
    const Error gone{command_->kernel(), ErrorCode::closed, "the executor went away"};
    end(&gone);
  }
  LateEnd(const LateEnd&) = delete;
  LateEnd& operator=(const LateEnd&) = delete;

  void end(const Error* failure) {
    const CommandPtr command = std::exchange(command_, nullptr);
    on_result_(failure);
    on_result_ = nullptr;
    command->finish(failure ? stoker::Result<void>{*failure} : stoker::Result<void>{});
  }

 private:
  CommandPtr command_;
  Result on_result_;
};

/// Lost memory is better than spoilt memory.
void say_kept(const DeviceShell& shell, std::size_t submissions) {
  sanitizers::ignore_leak(&shell);
  log_error("memory that abandoned work may still touch is kept until the device has done with it",
            {{"device", shell.info().name}, {"submissions", std::to_string(submissions)}});
}

}  // namespace

bool DeviceShell::can_settle(std::size_t q) const noexcept {
  if (flights_[q].empty()) return false;
  const Flight& oldest = flights_[q].front();
  if (oldest.value > completed_[q].load(std::memory_order_seq_cst)) return false;
  for (std::size_t other = 0; other < queue_kinds; ++other)
    if (other != q && oldest.waits[other] > settled_[other]) return false;
  return true;
}

void DeviceShell::settle_completed() {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t q = 0; q < queue_kinds; ++q)
      while (can_settle(q)) {
        Flight flight = std::move(flights_[q].front());
        flights_[q].pop_front();
        settle_flight(static_cast<QueueKind>(q), flight);
        reuse(std::move(flight));
        again = true;
      }
  }
  if (!left_.empty()) sweep_left();
}

void DeviceShell::settle_flight(QueueKind queue, Flight& flight) {
  settled_[index_of(queue)] = flight.value;
  count_in_flight_.fetch_sub(flight.commands.size(), std::memory_order_relaxed);
  const Report report = take_report({queue, flight.value});
  for (std::size_t i = 0; i < flight.commands.size(); ++i) {
    CommandState& command = *flight.commands[i];
    const bool one_step = !command.work.replay;
    std::optional<Error> failure;
    if (command.must_end()) failure = command.cancel_reason();
    // The first cause: what else went wrong may come of what it read.
    if (!failure) failure = poison_of(command.work);
    for (const StepFailure& failed : report.failures) {
      if (failure || (one_step && failed.step != i)) continue;
      failure = failed.error;
      if (one_step) continue;
      command.set_failed_step(failed.step);
      failure = failure->with("step", std::to_string(failed.step));
    }
    StepTiming timing;
    if (one_step && i < report.timings.size()) timing = report.timings[i];
    if (!one_step && !report.timings.empty()) {
      command.set_step_timings(report.timings);
      timing = report.timings.front();
      for (const StepTiming& each : report.timings) {
        timing.begin_ns = std::min(timing.begin_ns, each.begin_ns);
        timing.end_ns = std::max(timing.end_ns, each.end_ns);
      }
    }
    settle(command, std::move(failure), timing);
  }
}

std::optional<Error> DeviceShell::poison_of(const CommandWork& work) const {
  std::optional<Error> reason;
  if (!any_poison_) return reason;
  for_each_use(work, [&](const BufferState& buffer, bool writes, bool) {
    const auto* poison = buffer.poison_for(work.sequence);
    if (reason || !poison || writes) return;
    for (const auto& each : buffer.poison)
      if (each.sequence < work.sequence) each.writer->observe();
    reason = poison->cause;
  });
  return reason;
}

void DeviceShell::settle(CommandState& command, std::optional<Error> failure, StepTiming timing) {
  CommandWork& work = command.work;
  if (work.replay) work.replay->busy = false;
  for_each_use(work, [&](BufferState& buffer, bool writes, bool overwrites) {
    if (!work.handed_over) --buffer.waiting;
    if (--buffer.users == 0 && buffer.dropped) buffer.memory.reset();
    if (!writes) return;
    auto& poison = buffer.poison;
    if (failure) {
      any_poison_ = true;
      // Settling is nearly in order; a cancelled command may be early, an overwriter never late.
      const auto place =
          std::ranges::upper_bound(poison, work.sequence, {}, &BufferState::Poison::sequence);
      poison.insert(place, {work.sequence, *failure, CommandPtr{&command}});
      // The oldest decides now and the newest may later; what lies between them rarely matters.
      if (poison.size() > max_poison) poison.erase(poison.begin() + 1);
    } else if (overwrites) {
      std::erase_if(poison,
                    [&](const BufferState::Poison& old) { return old.sequence < work.sequence; });
    }
  });
  if (hooks_.observer) hooks_.observer->on_settled(command, failure ? &*failure : nullptr, timing);
  command.set_timing(timing);
  auto on_result = std::move(work.on_result);
  const bool is_quick = work.quick_result;
  if (on_result) DeferredWakes::flush();  // it, and its end, may be a user's
  work.clear();  // before anybody is woken: who waits for the command finds its memory free
  if (failure) {
    const bool was_cancelled = command.cancel_reason().has_value();
    (was_cancelled ? count_cancelled_ : count_failed_).fetch_add(1, std::memory_order_relaxed);
    if (on_result) on_result(&*failure);
    on_result = nullptr;
    command.finish(std::move(*failure));
    return;
  }
  count_completed_.fetch_add(1, std::memory_order_relaxed);
  if (!on_result || is_quick) {
    if (on_result) on_result(nullptr);
    on_result = nullptr;
    command.finish({});
    return;
  }
  hooks_.run_later([late = std::make_shared<LateEnd>(CommandPtr{&command}, std::move(on_result))] {
    late->end(nullptr);
  });
}

void DeviceShell::abandon_flights(const Error& why, bool may_still_run) {
  std::array<Ring<Flight>, queue_kinds> abandoned;
  abandoned.swap(flights_);
  if (may_still_run)
    for (std::size_t q = 0; q < queue_kinds; ++q)
      for (const Flight& flight : abandoned[q]) mute(static_cast<QueueKind>(q), flight);
  for (std::size_t q = 0; q < queue_kinds; ++q) {
    for (Flight& flight : abandoned[q]) {
      count_in_flight_.fetch_sub(flight.commands.size(), std::memory_order_relaxed);
      for (const CommandPtr& command : flight.commands) settle(*command, why, {});
    }
    settled_[q] = submitted_[q];
  }
  if (!may_still_run) return;
  reclaim_muted(false);  // what has ended meanwhile said so to nobody
  const std::size_t kept = count_muted_.load(std::memory_order_relaxed);
  if (kept > 0) say_kept(*this, kept);
}

void DeviceShell::abandon(const Error& why) {
  settle_completed();
  const bool runs = std::ranges::any_of(flights_, [](const auto& queue) { return !queue.empty(); });
  if (runs) abandon_flights(why, true);
  if (idle()) keep_alive_.reset();
}

void DeviceShell::give_up(const Error& why) {
  runs_on_.store(true, std::memory_order_relaxed);
  note_lost(why);
}

void DeviceShell::mute(QueueKind queue, const Flight& flight) {
  Muted muted{{queue, flight.value}, flight.commands, {}, {}};
  muted.memory.assign(flight.scratch.begin(), flight.scratch.end());
  const auto keep = [&](const CommandStep& step) {
    for (const Operand& operand : step.inputs) muted.memory.push_back(operand.owner());
    for (const auto* operands : {&step.outputs, &step.scratch})
      for (const Operand& operand : *operands) muted.memory.push_back(operand.owner());
    muted.memory.push_back(step.executable);
  };
  for (const CommandPtr& command : flight.commands) {
    const CommandWork& work = command->work;
    if (work.replay) {
      for (const auto& buffer : *work.replay->bound) muted.memory.push_back(buffer->memory);
      if (work.replay->arena) muted.memory.push_back(work.replay->arena->memory);
      muted.memory.push_back(std::shared_ptr<Recording>{std::move(work.replay->recording)});
      muted.memory.push_back(work.replay);
    } else {
      keep(work.step);
    }
    if (work.on_result) muted.results.push_back(work.on_result);
  }
  const std::scoped_lock lock{muted_mutex_};
  muted_.push_back(std::move(muted));
  count_muted_.store(muted_.size(), std::memory_order_seq_cst);
  keep_muted_ = shared_from_this();
}

void DeviceShell::reclaim_muted(bool all) noexcept {
  std::shared_ptr<DeviceShell> self;  // the last share of this, and the memory, go outside the lock
  std::vector<Muted> done;
  const std::scoped_lock lock{muted_mutex_};
  const auto rest = std::ranges::partition(
      muted_, [&](const Muted& muted) { return !all && !reached(muted.point); });
  if (rest.empty()) return;
  try {
    done.assign(std::move_iterator{rest.begin()}, std::move_iterator{rest.end()});
  } catch (const std::bad_alloc&) {
    return;  // it is kept
  }
  muted_.erase(rest.begin(), rest.end());
  count_muted_.store(muted_.size(), std::memory_order_seq_cst);
  if (muted_.empty()) self = std::move(keep_muted_);
}

DeviceShell::Report DeviceShell::take_report(QueuePoint point) {
  while (auto report = reports_.try_pop()) early_reports_.push_back(std::move(*report));
  const auto own = std::ranges::find_if(early_reports_, [&](const Report& report) {
    return report.point.queue == point.queue && report.point.value == point.value;
  });
  if (own == early_reports_.end()) return {};
  Report report = std::move(*own);
  early_reports_.erase(own);
  return report;
}

void DeviceShell::on_completed(Completion completion) noexcept {
  const auto self = weak_from_this().lock();  // what the poke ends may hold the last share
  const bool silent = completion.failures.empty() && completion.timings.empty();
  if (!silent && !reports_.try_push({completion.point, std::move(completion.failures),
                                     std::move(completion.timings)})) {
    // There is room for every flight, so memory has run out. What failed must not pass for done; the
    // device knows nothing of that, and goes on with the others.
    runs_on_.store(true, std::memory_order_relaxed);
    return note_lost({"complete", ErrorCode::out_of_memory, "no memory to say what failed"});
  }
  completed_[index_of(completion.point.queue)].store(completion.point.value,
                                                     std::memory_order_seq_cst);
  if (count_muted_.load(std::memory_order_seq_cst) > 0) reclaim_muted(false);
  if (!poked_.exchange(true, std::memory_order_seq_cst)) hooks_.poke();
}

void DeviceShell::on_lost(Error reason) noexcept {
  const auto self = weak_from_this().lock();
  // The device says itself that it has done with everything, or its backend keeps what it has not.
  reclaim_muted(true);
  note_lost(std::move(reason));
}

void DeviceShell::note_lost(Error reason) noexcept {
  {
    const std::scoped_lock lock{loss_mutex_};
    if (!lost_) lost_ = std::move(reason);
  }
  is_lost_.store(true, std::memory_order_seq_cst);
  if (!poked_.exchange(true, std::memory_order_seq_cst)) hooks_.poke();
}

}  // namespace stoker
