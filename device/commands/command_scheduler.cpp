#include "stoker/device/commands/command_scheduler.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stoker/runtime/base/sanitizers.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

Result<void> check_range(const char* name, std::size_t value, std::size_t most) {
  if (value >= 1 && value <= most) return {};
  return Error{"device",
               ErrorCode::invalid_argument,
               std::string{name} + ": expected 1 to " + std::to_string(most) + ", got " +
                   std::to_string(value),
               {{"parameter", name}}};
}

/// Up to this a copy out of a GPU's memory, which the host reads by a few bytes each microsecond, takes less time than
/// to hand it over.
constexpr std::uint64_t small_mapped_copy = 64;

/// Whether the host itself can do the command once the writers of what it reads have ended: a read of little or
/// nothing.
bool is_small_read(const CommandWork& work, const DeviceInfo& info) {
  if (work.replay || work.step.kind != StepKind::copy) return false;
  const Operand& from = work.step.inputs[0];
  const Operand& to = work.step.outputs[0];
  if (!from.buffer() || !from.buffer()->memory || to.buffer()) return false;
  return from.bytes == 0 || (from.bytes <= (info.host_addressable ? CommandScheduler::small_copy
                                                                  : small_mapped_copy) &&
                             from.view().block->host && to.view().block->host);
}

/// Whether the host is still to read what the command overwrites.
bool is_read_on_host(const CommandWork& work) {
  bool is_read = false;
  for_each_use(work, [&](const BufferState& buffer, bool writes, bool) {
    is_read |= writes && buffer.memory && buffer.memory->hazards().is_read_on_host();
  });
  return is_read;
}

}  // namespace

Result<void> check(const SchedulerOptions& options) {
  STOKER_TRY(check_range("submissions_in_flight", options.submissions_in_flight, 4'096));
  STOKER_TRY(check_range("steps_per_submission", options.steps_per_submission, 65'536));
  if (options.hang_patience >= std::chrono::nanoseconds::zero()) return {};
  return Error{"device",
               ErrorCode::invalid_argument,
               "hang_patience: must not be negative",
               {{"parameter", "hang_patience"}}};
}

Result<std::shared_ptr<CommandScheduler>> CommandScheduler::open(Driver& driver, std::size_t index,
                                                                 const OpenOptions& open_options,
                                                                 const SchedulerOptions& options) {
  STOKER_TRY(check(options));
  auto scheduler = std::make_shared<CommandScheduler>(options);
  STOKER_ASSIGN(std::shared_ptr<Backend> backend, driver.open(index, *scheduler, open_options));
  scheduler->backend_ = std::move(backend);
  scheduler->pool_ = std::make_shared<MemoryPool>(scheduler->backend_, options.memory);
  scheduler->memory_.set_pool(scheduler->pool_);
  scheduler->executables_ = std::make_unique<ExecutableCache>(*scheduler->backend_);
  return scheduler;
}

CommandScheduler::CommandScheduler(const SchedulerOptions& options)
    : options_{options}, settlement_{hooks_, queue_kinds * options.submissions_in_flight} {}

CommandScheduler::~CommandScheduler() {
  memory_.clear();
  // The backend reports to what is declared after it, up to its end.
  executables_.reset();
  memory_.set_pool(nullptr);
  pool_.reset();
  backend_.reset();
}

void CommandScheduler::set_hooks(SchedulerHooks hooks) {
  hooks_ = std::move(hooks);
  held_.set_notify(hooks_.notify);
  settled_reads_.set_notify([this] { notify(); });  // whoever reads keeps this
  // From now on the backend's thread may use them; what it has said so far it said to nobody.
  notified_.store(false, std::memory_order_seq_cst);
  if (is_lost_.load(std::memory_order_seq_cst)) notify();
}

SchedulerStats CommandScheduler::stats() const noexcept {
  SchedulerStats stats;
  const std::uint64_t past_the_queue = settled_reads_.done();
  stats.commands_submitted = count_submitted_.load(std::memory_order_relaxed) + past_the_queue;
  stats.commands_completed = settlement_.completed() + past_the_queue;
  stats.commands_failed = settlement_.failed();
  stats.commands_cancelled = settlement_.cancelled();
  stats.submissions = count_submissions_.load(std::memory_order_relaxed);
  stats.queued = count_queued_.load(std::memory_order_relaxed);
  stats.in_flight = count_in_flight_.load(std::memory_order_relaxed);
  stats.quarantined = quarantined_.count();
  return stats;
}

Result<std::shared_ptr<BufferState>> CommandScheduler::make_buffer(const TensorSpec& spec,
                                                                   std::string_view op) {
  STOKER_ASSIGN(auto memory, pool_->lease(spec.bytes(), MemoryKind::device, op));
  return make_buffer(spec, std::move(memory));
}

Result<std::shared_ptr<BufferState>> CommandScheduler::make_late_buffer(const TensorSpec& spec,
                                                                        std::string_view op) {
  STOKER_TRY(pool_->check(spec.bytes(), op));
  return make_buffer(spec, std::shared_ptr<MemoryLease>{});
}

std::shared_ptr<BufferState> CommandScheduler::make_buffer(const TensorSpec& spec,
                                                           std::shared_ptr<MemoryLease> memory) {
  return std::make_shared<BufferState>(next_buffer_.fetch_add(1, std::memory_order_relaxed), spec,
                                       std::move(memory));
}

std::optional<Error> CommandScheduler::lost() const {
  if (!is_lost_.load(std::memory_order_acquire)) return std::nullopt;
  const std::scoped_lock lock{loss_mutex_};
  return lost_;
}

bool CommandScheduler::drop(std::shared_ptr<BufferState> buffer) {
  dropped_.add(std::move(buffer));
  // Whoever ends what is in flight looks there afterwards.
  return count_in_flight_.load(std::memory_order_relaxed) > 0;
}

void CommandScheduler::release_dropped(const std::function<bool()>& all_delivered) {
  dropped_.take(all_delivered, [this](BufferState& buffer) { release(buffer); });
}

// --- from a call to the queue ---------------------------------------------------------------------

void CommandScheduler::submit(const CommandPtr& command, std::optional<Error> refused) {
  if (!refused && copy_at_once(*command)) return;
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
  settlement_.settle(*command, std::move(refused), {});
}

void CommandScheduler::cancel(CommandState& command, const Error& why) {
  static_cast<void>(command.mark_cancelled(why));
  CommandWork& work = command.work;
  const std::optional<Error> reason = command.cancel_reason();
  if (!reason || command.ready() || work.sequence == 0) return;  // not here yet: submit() ends it
  if (work.held) {
    held_.remove(command, queue_);
    settlement_.settle(command, reason, {});
  } else if (std::exchange(work.queued, false)) {
    ++cancelled_in_queue_;
    settlement_.settle(command, reason, {});
  } else {
    // In flight: whoever waits hears now, the outputs are poisoned when the work has ended.
    if (work.on_result) work.on_result(&*reason);
    command.finish(*reason);
  }
}

// --- a turn: from completions to the next submission ----------------------------------------------

void CommandScheduler::turn() {
  if (!keep_alive_) keep_alive_ = shared_from_this();
  // Completions that come while the turn runs are seen by its loop; only later ones notify.
  notified_.store(true, std::memory_order_relaxed);
  for (;;) {
    if (is_lost() && !loss_settled_) settle_loss();
    settle_completed();
    if (!released_.empty()) release_unread();
    if (!held_.empty()) held_.release_reached(queue_);
    pump();
    notified_.store(false, std::memory_order_seq_cst);
    const bool more = (is_lost() && !loss_settled_) || flights_.can_settle(QueueKind::compute) ||
                      flights_.can_settle(QueueKind::transfer) || settled_reads_.has_ended();
    if (!more || notified_.exchange(true)) break;
  }
  count_queued_.store(queue_.size() - cancelled_in_queue_ + held_.size(),
                      std::memory_order_relaxed);
  if (idle()) keep_alive_.reset();
}

bool CommandScheduler::idle() const noexcept {
  return queue_.empty() && held_.empty() && flights_.empty();
}

void CommandScheduler::pump() {
  while (!closed_ && !queue_.empty() && submit_batch()) {
  }
}

void CommandScheduler::skip_cancelled() {
  for (; !queue_.empty() && !queue_.front()->work.queued; --cancelled_in_queue_) queue_.pop_front();
}

std::optional<Result<void>> CommandScheduler::admit(const CommandWork& work, QueueKind queue) {
  if (flights_.count(queue) >= options_.submissions_in_flight) return std::nullopt;
  if (work.replay && builder_.size() > 0) return std::nullopt;
  if (is_read_elsewhere(work)) return std::nullopt;
  const bool may_come = builder_.size() > 0 || !flights_.empty();
  if (may_come && is_read_on_host(work)) return std::nullopt;
  Result<void> provided = memory_.provide(work);
  if (!provided && may_come && provided.error().code() == ErrorCode::out_of_memory)
    return std::nullopt;
  return provided;
}

bool CommandScheduler::submit_batch() {
  builder_.begin();
  Flight flight = flights_.take();
  std::optional<QueueKind> queue;
  Replay* replay = nullptr;
  for (skip_cancelled();
       !queue_.empty() && builder_.size() < options_.steps_per_submission && !replay;
       skip_cancelled()) {
    const CommandWork& work = queue_.front()->work;
    auto reason = settlement_.refusal(*queue_.front(), flights_.settled());
    if (!reason && read_on_host(queue, flight)) continue;
    const QueueKind wanted = info().has_transfer_queue ? work.queue : QueueKind::compute;
    if (!reason) {
      // Until a command is in the submission the queue is open: who failed chose none for others.
      if (!flight.commands.empty() && *queue != wanted) break;
      const std::optional<Result<void>> admitted = admit(work, wanted);
      if (!admitted) break;
      if (*admitted) {
        queue = wanted;
        flight.value = flights_.next_value(wanted);
      } else {
        reason = admitted->error();
      }
    }
    const CommandPtr command = std::move(queue_.front());
    queue_.pop_front();
    command->work.queued = false;
    if (!reason && !work.replay) builder_.add(*command, wanted, memory_.scratch(), flight);
    if (!reason && work.replay)
      if (const auto recorded = builder_.add(*work.replay, *backend_, wanted, flight); !recorded)
        reason = recorded.error();
    if (reason) {
      settlement_.settle(*command, std::move(reason), {});
      continue;
    }
    memory_.mark_handed_over(command->work);
    if (work.replay) replay = work.replay.get();
    command->set_running();
    flight.commands.push_back(command);
  }
  if (flight.commands.empty()) {
    flights_.reuse(std::move(flight));
    return false;
  }
  hand_over(*queue, std::move(flight), replay);
  return true;
}

bool CommandScheduler::read_on_host(std::optional<QueueKind> queue, Flight& next) {
  const CommandPtr read = queue_.front();
  CommandWork& work = read->work;
  if (!is_small_read(work, info()) || hooks_.wants_timing()) return false;
  const Hazards& hazards = work.step.inputs[0].buffer()->memory->hazards();
  Flight* flight = nullptr;
  QueuePoint point{QueueKind::compute, 0};
  if (!hazards.is_written(flights_.settled())) {
    const std::optional<QueueKind> last = flights_.last_to_settle(hazards.written());
    if (!last) return false;
    point = {*last, hazards.written()[index_of(*last)]};
    const bool is_next = !next.commands.empty() && last == queue && point.value == next.value;
    flight = is_next ? &next : flights_.find(point);
    if (flight == nullptr) return false;
    flight->followers.push_back({read, flight->commands.size()});
  }
  queue_.pop_front();
  work.queued = false;
  Settlement::begin_on_host(work);
  if (flight == nullptr) {
    settlement_.settle_on_host(*read, {});
    return true;
  }
  memory_.mark_handed_over(work);
  read->set_running();
  if (flight == &next) return true;
  read->set_point(point);
  count_in_flight_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void CommandScheduler::hand_over(QueueKind queue, Flight flight, Replay* replay) {
  Flights::Points room;
  Submission submission = builder_.made(queue, flight, replay);
  submission.waits = flights_.waits_of(flight, room);
  submission.timed = hooks_.wants_timing();
  for (const CommandPtr& command : flight.commands) command->set_point({queue, flight.value});
  for (const Flight::Follower& one : flight.followers) one.read->set_point({queue, flight.value});
  count_in_flight_.fetch_add(flight.size(), std::memory_order_relaxed);
  count_submissions_.fetch_add(1, std::memory_order_relaxed);
  // In flight before the call: a backend may complete the work inside it.
  flights_.add(queue, std::move(flight));
  const auto accepted = backend_->submit(submission);
  if (accepted) return;
  Flight refused = flights_.take_back(queue);
  count_in_flight_.fetch_sub(refused.size(), std::memory_order_relaxed);
  for (const CommandPtr& command : refused.commands)
    settlement_.settle(*command, accepted.error(), {});
  settlement_.settle_followers(refused, 0, refused.commands.size());
  flights_.reuse(std::move(refused));
}

void CommandScheduler::settle_completed() {
  for (bool again = true; again;) {
    again = false;
    for (const QueueKind queue : {QueueKind::compute, QueueKind::transfer})
      while (flights_.can_settle(queue)) {
        Flight flight = flights_.settle(queue);
        count_in_flight_.fetch_sub(flight.size(), std::memory_order_relaxed);
        const Replay* const replay = flight.commands.front()->work.replay.get();
        if (replay && replay->runs_again && replay->recording && replay->recording_stays())
          backend_->run_ended(*replay->recording);
        settlement_.settle(queue, flight);
        flights_.reuse(std::move(flight));
        again = true;
      }
  }
  memory_.sweep();
}

// --- the end of a device --------------------------------------------------------------------------

void CommandScheduler::close(const Error& why) {
  if (closed_) return;
  const std::vector<CommandPtr> held =
      held_.take_all();  // takes memory: before anything else changes
  closed_ = true;
  close_reason_ = why;
  settled_reads_.close();
  Ring<CommandPtr> abandoned;
  abandoned.swap(queue_);
  cancelled_in_queue_ = 0;
  for (const CommandPtr& command : abandoned)
    if (std::exchange(command->work.queued, false)) settlement_.settle(*command, why, {});
  for (const CommandPtr& command : held) settlement_.settle(*command, why, {});
}

void CommandScheduler::settle_loss() {
  loss_settled_ = true;
  const Error why = *lost();
  settle_completed();  // what was complete before the loss is not part of it
  close(why);
  abandon_flights(why, runs_on_.load(std::memory_order_relaxed));
}

void CommandScheduler::abandon_flights(const Error& why, bool may_still_run) {
  std::array<Ring<Flight>, queue_kinds> abandoned = flights_.settle_all();
  if (may_still_run)
    for (const QueueKind queue : {QueueKind::compute, QueueKind::transfer})
      for (const Flight& flight : abandoned[index_of(queue)])
        quarantined_.add(queue, flight, shared_from_this());
  for (Ring<Flight>& queue : abandoned)
    for (const Flight& flight : queue) {
      count_in_flight_.fetch_sub(flight.size(), std::memory_order_relaxed);
      for (const CommandPtr& command : flight.commands) settlement_.settle(*command, why, {});
      for (const Flight::Follower& one : flight.followers)
        settlement_.settle_on_host(*one.read, why);
    }
  if (!may_still_run) return;
  quarantined_.reclaim(flights_, false);  // what has ended meanwhile said so to nobody
  const std::size_t kept = quarantined_.count();
  if (kept == 0) return;
  sanitizers::ignore_leak(this);
  log_warn("memory that abandoned work may still touch is kept until the device has done with it",
           {{"device", info().name}, {"submissions", std::to_string(kept)}});
}

void CommandScheduler::abandon(const Error& why) {
  settle_completed();
  if (!flights_.empty()) abandon_flights(why, true);
  if (idle()) keep_alive_.reset();
}

void CommandScheduler::give_up(const Error& why) {
  runs_on_.store(true, std::memory_order_relaxed);
  note_lost(why);
}

// --- what the backend says ------------------------------------------------------------------------

void CommandScheduler::on_completed(Completion completion) noexcept {
  const auto self = weak_from_this().lock();  // what notify() ends may hold the last share
  if (!settlement_.report(completion)) {
    // There is room for every flight, so memory has run out. What failed must not pass for done; the
    // device knows nothing of that, and goes on with the others.
    runs_on_.store(true, std::memory_order_relaxed);
    return note_lost(error_or_out_of_memory([] {
      return Error{"complete", ErrorCode::out_of_memory, "no memory to say what failed"};
    }));
  }
  flights_.complete(completion.point);
  if (quarantined_.count() > 0) quarantined_.reclaim(flights_, false);
  notify();
}

void CommandScheduler::on_lost(Error reason) noexcept {
  const auto self = weak_from_this().lock();
  // The device says itself that it has done with everything, or its backend keeps what it has not.
  quarantined_.reclaim(flights_, true);
  note_lost(std::move(reason));
}

void CommandScheduler::note_lost(Error reason) noexcept {
  {
    const std::scoped_lock lock{loss_mutex_};
    if (!lost_) lost_ = std::move(reason);
  }
  is_lost_.store(true, std::memory_order_seq_cst);
  settled_reads_.close();
  notify();
}

void CommandScheduler::notify() noexcept {
  if (!notified_.exchange(true, std::memory_order_seq_cst)) hooks_.notify();
}

}  // namespace stoker
