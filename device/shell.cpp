#include "stoker/device/shell.hpp"

#include <algorithm>
#include <utility>

namespace stoker {
namespace {

void add_edge(Step& step, std::uint32_t earlier) {
  if (std::ranges::find(step.after, earlier) == step.after.end()) step.after.push_back(earlier);
}

}  // namespace

Result<std::shared_ptr<DeviceShell>> DeviceShell::open(Driver& driver, std::size_t index,
                                                       const OpenOptions& open_options,
                                                       const ShellOptions& options) {
  auto shell = std::make_shared<DeviceShell>(options);
  STOKER_ASSIGN(std::shared_ptr<Backend> backend, driver.open(index, *shell, open_options));
  shell->backend_ = std::move(backend);
  shell->pool_ = std::make_shared<MemoryPool>(shell->backend_, options.memory);
  shell->executables_ = std::make_unique<ExecutableCache>(*shell->backend_);
  return shell;
}

DeviceShell::DeviceShell(const ShellOptions& options)
    : options_{options}, reports_{queue_kinds * options.submissions_in_flight} {}
DeviceShell::~DeviceShell() {
  left_.clear();
  // The backend reports to what is declared after it, up to its end.
  executables_.reset();
  pool_.reset();
  backend_.reset();
}

void DeviceShell::set_hooks(Hooks hooks) {
  hooks_ = std::move(hooks);
  held_.set_poke(hooks_.poke);
  // From now on the backend's thread may use them; what it has said so far it said to nobody.
  poked_.store(false, std::memory_order_seq_cst);
  if (is_lost_.load(std::memory_order_seq_cst) && !poked_.exchange(true)) hooks_.poke();
}

ShellStats DeviceShell::stats() const noexcept {
  ShellStats stats;
  stats.commands_submitted = count_submitted_.load(std::memory_order_relaxed);
  stats.commands_completed = count_completed_.load(std::memory_order_relaxed);
  stats.commands_failed = count_failed_.load(std::memory_order_relaxed);
  stats.commands_cancelled = count_cancelled_.load(std::memory_order_relaxed);
  stats.submissions = count_submissions_.load(std::memory_order_relaxed);
  stats.queued = count_queued_.load(std::memory_order_relaxed);
  stats.in_flight = count_in_flight_.load(std::memory_order_relaxed);
  stats.muted = count_muted_.load(std::memory_order_relaxed);
  return stats;
}

Result<std::shared_ptr<BufferState>> DeviceShell::make_buffer(const TensorSpec& spec,
                                                              std::string_view op) {
  STOKER_ASSIGN(auto memory, pool_->lease(spec.bytes(), MemoryKind::device, op));
  return make_buffer(spec, std::move(memory));
}

Result<std::shared_ptr<BufferState>> DeviceShell::make_late_buffer(const TensorSpec& spec,
                                                                   std::string_view op) {
  STOKER_TRY(pool_->check(spec.bytes(), op));
  return make_buffer(spec, std::shared_ptr<MemoryLease>{});
}

std::shared_ptr<BufferState> DeviceShell::make_buffer(const TensorSpec& spec,
                                                      std::shared_ptr<MemoryLease> memory) {
  return std::make_shared<BufferState>(next_buffer_.fetch_add(1, std::memory_order_relaxed), spec,
                                       std::move(memory));
}

std::optional<Error> DeviceShell::lost() const {
  if (!is_lost_.load(std::memory_order_acquire)) return std::nullopt;
  const std::scoped_lock lock{loss_mutex_};
  return lost_;
}

void DeviceShell::submit(CommandPtr command, std::optional<Error> refused) {
  count_submitted_.fetch_add(1, std::memory_order_relaxed);
  CommandWork& work = command->work;
  work.sequence = ++sequence_;
  const BufferState* dropped = nullptr;
  for_each_use(work, [&](BufferState& buffer, bool, bool) {
    ++buffer.users;
    ++buffer.waiting;
    if (buffer.dropped) dropped = &buffer;
  });
  if (closed_) {
    refused = close_reason_;
  } else if (dropped && !refused) {
    refused = Error{"submit",
                    ErrorCode::released,
                    "the buffer was released",
                    {{"buffer", std::to_string(dropped->id)}}};
  }
  if (!refused && command->must_end()) refused = command->cancel_reason();
  if (!refused) try {
      if (held_.hold(command)) return;
      queue_.push_back(command);
      work.queued = true;
      return;
    } catch (const std::bad_alloc&) {
      refused = error_from_current_exception(command->kernel());
    }
  settle(*command, std::move(refused), {});
}

std::optional<Result<void>> DeviceShell::run_at_once(
    CommandState& command, std::span<const Step> steps,
    std::span<const std::shared_ptr<BufferState>> buffers) {
  if (closed_ || !idle() || is_lost() || !command.work.waits.empty()) return std::nullopt;
  if (hooks_.observer && hooks_.observer->wants_timing()) return std::nullopt;
  const bool usable = std::ranges::all_of(buffers, [](const auto& buffer) {
    return !buffer->dropped && buffer->memory && buffer->poison.empty();
  });
  if (!usable || command.must_end()) return std::nullopt;
  std::optional<Error> failure;
  if (!backend_->run_at_once(steps, failure)) return std::nullopt;
  if (failure) {
    const auto step = static_cast<std::uint32_t>(std::stoul(std::string{failure->detail("step")}));
    command.progress()->store(step, std::memory_order_relaxed);
    command.set_failed_step(step);
    return Result<void>{std::move(*failure)};
  }
  ++sequence_;
  count_submitted_.fetch_add(1, std::memory_order_relaxed);
  count_completed_.fetch_add(1, std::memory_order_relaxed);
  command.progress()->store(static_cast<std::uint32_t>(steps.size()), std::memory_order_relaxed);
  if (hooks_.observer) hooks_.observer->on_settled(command, nullptr, {});
  command.finish({});
  return Result<void>{};
}

void DeviceShell::turn() {
  if (!keep_alive_) keep_alive_ = shared_from_this();
  // Completions that come while the turn runs are seen by its loop; only later ones poke.
  poked_.store(true, std::memory_order_relaxed);
  for (;;) {
    if (is_lost_.load(std::memory_order_acquire) && !loss_settled_) {
      loss_settled_ = true;
      const Error why = *lost();
      settle_completed();  // what was complete before the loss is not part of it
      close(why);
      abandon_flights(why, runs_on_.load(std::memory_order_relaxed));
    }
    settle_completed();
    if (!held_.empty()) held_.release_reached(queue_);
    pump();
    poked_.store(false, std::memory_order_seq_cst);
    bool more = is_lost_.load(std::memory_order_acquire) && !loss_settled_;
    for (std::size_t q = 0; q < queue_kinds; ++q) more = more || can_settle(q);
    if (!more || poked_.exchange(true)) break;
  }
  count_queued_.store(queue_.size() - cancelled_in_queue_ + held_.size(),
                      std::memory_order_relaxed);
  if (idle()) keep_alive_.reset();
}

std::array<QueuePoint, queue_kinds> DeviceShell::submitted() const noexcept {
  return {QueuePoint{QueueKind::compute, submitted_[0]},
          QueuePoint{QueueKind::transfer, submitted_[1]}};
}

bool DeviceShell::idle() const noexcept {
  return queue_.empty() && held_.empty() &&
         std::ranges::all_of(flights_, [](const auto& flights) { return flights.empty(); });
}

void DeviceShell::pump() {
  while (!closed_ && !queue_.empty() && submit_batch()) {
  }
}

std::optional<Error> DeviceShell::refusal(CommandState& command) const {
  const CommandWork& work = command.work;
  if (command.must_end()) return command.cancel_reason();
  for (const auto& wait : work.waits)
    if (const Error* failure = wait->failure()) return *failure;
  std::optional<Error> reason;
  if (!any_poison_) return reason;
  for_each_use(work, [&](const BufferState& buffer, bool writes, bool overwrites) {
    if (reason) return;
    // A writer in flight may still overwrite the poison; then its settling decides.
    const bool settled = !buffer.memory || is_written(*buffer.memory);
    const auto* poison = buffer.poison_for(work.sequence);
    if (overwrites || !poison || !settled || (writes && work.replay)) return;
    for (const auto& each : buffer.poison)
      if (each.sequence < work.sequence) each.writer->observe();
    reason = poison->cause;
  });
  return reason;
}

void DeviceShell::skip_cancelled() {
  for (; !queue_.empty() && !queue_.front()->work.queued; --cancelled_in_queue_) queue_.pop_front();
}

bool DeviceShell::submit_batch() {
  ++batch_;
  steps_.clear();
  Flight flight = take_flight();
  std::optional<QueueKind> queue;
  Replay* replay = nullptr;
  for (skip_cancelled();
       !queue_.empty() && steps_.size() < options_.steps_per_submission && !replay;
       skip_cancelled()) {
    const CommandWork& work = queue_.front()->work;
    auto reason = refusal(*queue_.front());
    const QueueKind wanted = info().has_transfer_queue ? work.queue : QueueKind::compute;
    if (!reason) {
      // Until a command is in the submission the queue is open: who failed chose none for others.
      if (!flight.commands.empty() && *queue != wanted) break;
      if (flights_[index_of(wanted)].size() >= options_.submissions_in_flight) break;
      if (work.replay && !steps_.empty()) break;
      if (const auto provided = provide(work); !provided) {
        const bool may_come = !flight.commands.empty() ||
                              std::ranges::any_of(flights_, [](auto& q) { return !q.empty(); });
        if (may_come && provided.error().code() == ErrorCode::out_of_memory) break;
        reason = provided.error();
      } else {
        queue = wanted;
        flight.value = submitted_[index_of(wanted)] + 1;
      }
    }
    const CommandPtr command = std::move(queue_.front());
    queue_.pop_front();
    command->work.queued = false;
    if (!reason && !work.replay) add_step(*command, wanted, flight);
    if (!reason && work.replay)
      if (const auto recorded = record(*work.replay, wanted, flight); !recorded)
        reason = recorded.error();
    if (reason) {
      settle(*command, std::move(reason), {});
      continue;
    }
    mark_handed_over(command->work);
    if (work.replay) replay = work.replay.get();
    command->set_running();
    flight.commands.push_back(command);
  }
  if (flight.commands.empty()) {
    reuse(std::move(flight));
    return false;
  }
  hand_over(*queue, std::move(flight), replay);
  return true;
}

void DeviceShell::add_step(CommandState& command, QueueKind queue, Flight& flight) {
  const CommandWork& work = command.work;
  resolve(work.step, steps_.emplace_back(), flight);
  if (command.has_limits()) steps_.back().stop = &command;
  for_each_use(work, [&](BufferState& buffer, bool writes, bool) {
    note_use(buffer, writes, queue, &steps_.back(), flight);
  });
}

void DeviceShell::note_use(const BufferState& buffer, bool writes, QueueKind queue, Step* step,
                           Flight& flight) {
  Hazards& at = buffer.memory->hazards();
  const std::size_t own = index_of(queue);
  const bool read_here = at.read[own] == flight.value;
  if (at.written[own] != flight.value) {  // else its writer here waits for all that came before
    for (std::size_t q = 0; q < queue_kinds; ++q) {
      const std::uint64_t read = q == own && read_here ? at.read_before : at.read[q];
      const std::uint64_t earlier = writes ? std::max(at.written[q], read) : at.written[q];
      if (earlier > settled_[q]) flight.waits[q] = std::max(flight.waits[q], earlier);
    }
  }
  if (writes) {
    at.written[own] = flight.value;
  } else if (!read_here) {
    at.read_before = at.read[own];
    at.read[own] = flight.value;
  }
  if (!step) return;

  const auto index = static_cast<std::uint32_t>(steps_.size() - 1);
  if (at.batch != batch_) {
    at.batch = batch_;
    at.batch_writer.reset();
    at.batch_readers.clear();
  }
  if (at.batch_writer && *at.batch_writer != index) add_edge(*step, *at.batch_writer);
  if (!writes) {
    at.batch_readers.push_back(index);
    return;
  }
  for (const std::uint32_t reader : at.batch_readers)
    if (reader != index) add_edge(*step, reader);
  at.batch_readers.clear();
  at.batch_writer = index;
}

void DeviceShell::resolve(const CommandStep& from, Step& step, Flight& flight) {
  step.kind = from.kind;
  step.executable = from.executable;
  step.pattern = from.pattern;
  step.pattern_bytes = from.pattern_bytes;
  for (const Operand& operand : from.inputs) step.inputs.push_back(operand.view());
  for (const Operand& operand : from.outputs) step.outputs.push_back(operand.view());
  for (const Operand& operand : from.scratch) step.scratch.push_back(operand.view());
  for (auto& lease : scratch_) {
    step.scratch.push_back(lease->view());
    flight.scratch.push_back(std::move(lease));
  }
  scratch_.clear();
}

Result<void> DeviceShell::record(Replay& replay, QueueKind queue, Flight& flight) {
  if (!replay.recording || replay.moved) STOKER_TRY(record_anew(replay));
  for (const ReplayPlan::Use& use : replay.plan->uses)
    note_use(*replay.buffer(use.buffer), use.writes, queue, nullptr, flight);
  return {};
}

Result<void> DeviceShell::record_anew(Replay& replay) {
  const auto& plan = replay.plan->steps;
  if (replay.steps.empty()) {
    replay.steps.resize(plan.size());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      replay.steps[i].executable = plan[i].executable;
      replay.steps[i].after.assign(plan[i].after.begin(), plan[i].after.end());
      replay.steps[i].inputs.resize(plan[i].inputs.size());
      replay.steps[i].outputs.resize(plan[i].outputs.size());
      replay.steps[i].scratch.resize(plan[i].scratch.size());
    }
  }
  const auto view_all = [&](const auto& operands, auto& views) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const MemoryView& whole = replay.buffer(operands[i].buffer)->memory->view();
      views[i] = {whole.block, whole.offset + operands[i].offset, operands[i].bytes};
    }
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    view_all(plan[i].inputs, replay.steps[i].inputs);
    view_all(plan[i].outputs, replay.steps[i].outputs);
    view_all(plan[i].scratch, replay.steps[i].scratch);
  }
  replay.moved = false;
  if (replay.recording && backend_->rebind(*replay.recording, replay.steps)) return {};
  replay.recording.reset();
  replay.moved = true;
  STOKER_ASSIGN(replay.recording, backend_->record(replay.steps));
  replay.moved = false;
  // What cannot be put on other memory is not kept for that.
  if (!backend_->rebind(*replay.recording, replay.steps)) replay.steps.clear();
  return {};
}

void DeviceShell::hand_over(QueueKind queue, Flight flight, Replay* replay) {
  const std::size_t q = index_of(queue);
  std::array<QueuePoint, queue_kinds> waits;
  std::size_t wait_count = 0;
  for (std::size_t other = 0; other < queue_kinds; ++other) {
    // A buffer may remember a refused submission's point, which perhaps nobody ever reaches; what
    // it stood for is below the floor.
    flight.waits[other] = std::min(flight.waits[other], submitted_[other]);
    const std::uint64_t point = std::max(flight.waits[other], floor_[other]);
    if (point > settled_[other]) waits[wait_count++] = {static_cast<QueueKind>(other), point};
  }

  Submission submission;
  submission.queue = queue;
  submission.value = flight.value;
  submission.waits = {waits.data(), wait_count};
  submission.steps = steps_;
  if (replay) {
    submission.steps = {};
    submission.recording = replay->recording.get();
    submission.progress = flight.commands[0]->progress();
    submission.stop = flight.commands[0].get();
  }
  submission.timed = hooks_.observer && hooks_.observer->wants_timing();
  submitted_[q] = flight.value;
  for (const CommandPtr& command : flight.commands) command->set_point({queue, flight.value});
  count_in_flight_.fetch_add(flight.commands.size(), std::memory_order_relaxed);
  count_submissions_.fetch_add(1, std::memory_order_relaxed);
  // In flight before the call: a backend may complete the work inside it.
  flights_[q].push_back(std::move(flight));
  const auto accepted = backend_->submit(submission);
  if (accepted) return;
  Flight refused = std::move(flights_[q].back());
  flights_[q].pop_back();
  count_in_flight_.fetch_sub(refused.commands.size(), std::memory_order_relaxed);
  // The value is free again, but buffers remember it: whatever comes next waits for all before it.
  submitted_[q] = refused.value - 1;
  floor_ = submitted_;
  for (const CommandPtr& command : refused.commands) settle(*command, accepted.error(), {});
  reuse(std::move(refused));
}

void DeviceShell::cancel(CommandState& command, const Error& why) {
  static_cast<void>(command.mark_cancelled(why));
  CommandWork& work = command.work;
  const std::optional<Error> reason = command.cancel_reason();
  if (!reason || command.ready() || work.sequence == 0) return;  // not here yet: submit() ends it
  if (work.held) {
    held_.remove(command, queue_);
    settle(command, reason, {});
  } else if (std::exchange(work.queued, false)) {
    ++cancelled_in_queue_;
    settle(command, reason, {});
  } else {
    // In flight: whoever waits hears now, the outputs are poisoned when the work has ended.
    if (work.on_result) work.on_result(&*reason);
    command.finish(*reason);
  }
}

void DeviceShell::close(const Error& why) {
  if (closed_) return;
  closed_ = true;
  close_reason_ = why;
  Ring<CommandPtr> abandoned;
  abandoned.swap(queue_);
  cancelled_in_queue_ = 0;
  const std::vector<CommandPtr> held = held_.take_all();
  for (const CommandPtr& command : abandoned)
    if (std::exchange(command->work.queued, false)) settle(*command, why, {});
  for (const CommandPtr& command : held) settle(*command, why, {});
}

DeviceShell::Flight DeviceShell::take_flight() {
  if (spare_flights_.empty()) return {};
  Flight flight = std::move(spare_flights_.back());
  spare_flights_.pop_back();
  return flight;
}

void DeviceShell::reuse(Flight flight) {
  flight.commands.clear();
  flight.scratch.clear();
  flight.waits = {};
  if (spare_flights_.size() < 8) spare_flights_.push_back(std::move(flight));
}

}  // namespace stoker
