#include "stoker/device/commands/settlement.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/runtime/execution/deferred_wakes.hpp"

namespace stoker {
namespace {

/// The end of a command that has succeeded, once what it brings has been taken over. An executor may go
/// without running it; then the command ends all the same.
class LateEnd {
 public:
  using Result = std::function<void(const Error* failure)>;
  LateEnd(CommandPtr command, Result on_result)
      : command_{std::move(command)}, on_result_{std::move(on_result)} {}
  ~LateEnd() {
    if (!command_) return;
    const Error gone = error_or_out_of_memory([&] {
      return Error{command_->kernel(), ErrorCode::closed, "the executor went away"};
    });
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

}  // namespace

bool Settlement::report(Completion& completion) noexcept {
  if (completion.failures.empty() && completion.timings.empty()) return true;
  return reports_.try_push(
      {completion.point, std::move(completion.failures), std::move(completion.timings)});
}

Settlement::Report Settlement::take_report(QueuePoint point) {
  while (auto report = reports_.try_pop()) early_.push_back(std::move(*report));
  const auto own = std::ranges::find_if(early_, [&](const Report& report) {
    return report.point.queue == point.queue && report.point.value == point.value;
  });
  if (own == early_.end()) return {};
  Report report = std::move(*own);
  early_.erase(own);
  return report;
}

std::optional<Error> Settlement::refusal(CommandState& command,
                                         const Hazards::Values& settled) const {
  const CommandWork& work = command.work;
  if (command.must_end()) return command.cancel_reason();
  for (const auto& wait : work.waits)
    if (const Error* failure = wait->failure()) return *failure;
  std::optional<Error> reason;
  if (!any_poison_) return reason;
  for_each_use(work, [&](const BufferState& buffer, bool writes, bool overwrites) {
    if (reason || overwrites || (writes && work.replay)) return;
    // A writer in flight may still overwrite the poison; then its settling decides.
    if (!buffer.memory || buffer.memory->hazards().is_written(settled))
      if (const Error* cause = buffer.poison.hand_on(work.sequence)) reason = *cause;
  });
  return reason;
}

std::optional<Error> Settlement::poison_of(const CommandWork& work) const {
  std::optional<Error> reason;
  if (!any_poison_) return reason;
  for_each_use(work, [&](const BufferState& buffer, bool writes, bool) {
    if (reason || writes) return;
    if (const Error* cause = buffer.poison.hand_on(work.sequence)) reason = *cause;
  });
  return reason;
}

void Settlement::settle(QueueKind queue, const Flight& flight) {
  const Report report = take_report({queue, flight.value});
  std::size_t follower = 0;
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
    follower = settle_followers(flight, follower, i + 1);
  }
}

std::size_t Settlement::settle_followers(const Flight& flight, std::size_t next,
                                         std::size_t ended) {
  for (; next < flight.followers.size() && flight.followers[next].after <= ended; ++next) {
    CommandState& read = *flight.followers[next].read;
    settle_on_host(read, read.must_end() ? read.cancel_reason() : poison_of(read.work));
  }
  return next;
}

void Settlement::begin_on_host(CommandWork& read) noexcept {
  if (read.step.inputs[0].bytes > 0)
    read.step.inputs[0].buffer()->memory->hazards().begin_host_read();
}

void Settlement::settle_on_host(CommandState& read, std::optional<Error> failure) {
  const Operand& from = read.work.step.inputs[0];
  if (from.bytes > 0) {
    from.buffer()->memory->hazards().end_host_read();
    if (!failure)
      std::memcpy(read.work.step.outputs[0].view().host(), from.view().host(), from.bytes);
  }
  settle(read, std::move(failure), {});
}

void Settlement::note_outcome(CommandWork& work, CommandState& command,
                              const std::optional<Error>& failure) {
  for_each_use(work, [&](BufferState& buffer, bool writes, bool overwrites) {
    if (!work.handed_over) --buffer.waiting;
    if (--buffer.users == 0 && buffer.dropped) buffer.memory.reset();
    if (!writes) return;
    if (failure) {
      any_poison_ = true;
      buffer.poison.add({work.sequence, *failure, CommandPtr{&command}});
    } else if (overwrites) {
      buffer.poison.overwritten(work.sequence);
    }
    buffer.note_written();
  });
}

void Settlement::settle(CommandState& command, std::optional<Error> failure, StepTiming timing) {
  CommandWork& work = command.work;
  if (work.replay) work.replay->busy = false;
  note_outcome(work, command, failure);
  if (hooks_.observer) hooks_.observer->on_settled(command, failure ? &*failure : nullptr, timing);
  command.set_timing(timing);
  auto on_result = std::move(work.on_result);
  const bool is_quick = work.quick_result;
  if (on_result) DeferredWakes::flush();  // it, and its end, may be a user's
  work.clear();  // before anybody is woken: who waits for the command finds its memory free
  if (failure) {
    const bool was_cancelled = command.cancel_reason().has_value();
    (was_cancelled ? cancelled_ : failed_).fetch_add(1, relaxed);
    if (on_result) on_result(&*failure);
    on_result = nullptr;
    command.finish(std::move(*failure));
    return;
  }
  count_completed();
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

}  // namespace stoker
