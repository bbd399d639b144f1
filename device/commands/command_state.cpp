#include "stoker/device/commands/command_state.hpp"

#include <algorithm>
#include <chrono>

#include "stoker/device/commands/command_pool.hpp"
#include "stoker/runtime/base/relax.hpp"

namespace stoker {
namespace {

constexpr auto assist_limit = std::chrono::milliseconds{5};
constexpr auto assist_slice = std::chrono::milliseconds{1};
// The turn of another thread that takes a command, or runs it, ends within microseconds; sleeping takes longer.
constexpr auto turn_patience = std::chrono::microseconds{10};

}  // namespace

std::string_view to_string(CommandStatus status) noexcept {
  switch (status) {
    case CommandStatus::pending: return "pending";
    case CommandStatus::running: return "running";
    case CommandStatus::completed: return "completed";
    case CommandStatus::failed: return "failed";
    case CommandStatus::cancelled: break;
  }
  return "cancelled";
}

std::uint32_t CommandState::steps_done() const noexcept {
  if (status() == CommandStatus::completed) return steps_;
  return std::min(steps_, progress_.load(std::memory_order_relaxed));
}

CommandStatus CommandState::step_status(std::uint32_t step) const noexcept {
  const CommandStatus whole = status();
  if (whole == CommandStatus::completed || whole == CommandStatus::pending) return whole;
  const std::uint32_t failed = failed_step_.load(std::memory_order_acquire);
  if (step == failed) return CommandStatus::failed;
  const std::uint32_t done = steps_done();
  if (failed != no_step && failed < done)  // its own end was counted, too
    return step < failed ? CommandStatus::completed : CommandStatus::cancelled;
  if (step < done) return CommandStatus::completed;
  if (whole == CommandStatus::running)
    return step == done ? CommandStatus::running : CommandStatus::pending;
  return CommandStatus::cancelled;
}

StepTiming CommandState::timing() const {
  pool_->fork_.check(kernel_).value();  // a thread of the parent may hold the lock
  const std::scoped_lock lock{mutex_};
  return timing_;
}

std::vector<StepTiming> CommandState::step_timings() const {
  pool_->fork_.check(kernel_).value();
  const std::scoped_lock lock{mutex_};
  return step_timings_;
}

void CommandState::set_running() noexcept {
  CommandStatus expected = CommandStatus::pending;
  status_.compare_exchange_strong(expected, CommandStatus::running, std::memory_order_acq_rel);
}

void CommandState::set_failed_step(std::uint32_t step) noexcept {
  failed_step_.store(step, std::memory_order_release);
}

void CommandState::set_point(QueuePoint point) noexcept {
  point_queue_.store(point.queue, std::memory_order_relaxed);
  point_value_.store(point.value, std::memory_order_release);
}

void CommandState::set_timing(StepTiming timing) {
  if (timing.end_ns == 0) return;
  const std::scoped_lock lock{mutex_};
  timing_ = timing;
}

void CommandState::set_step_timings(std::vector<StepTiming> timings) {
  const std::scoped_lock lock{mutex_};
  step_timings_ = std::move(timings);
}

void CommandState::set_limits(Deadline deadline, CancelToken token) {
  deadline_ = deadline;
  token_ = std::move(token);
}

void CommandState::set_alarms(Timer timer, CancelRegistration registration) {
  const std::scoped_lock lock{mutex_};
  timer_ = std::move(timer);
  registration_ = std::move(registration);
}

bool CommandState::must_end() noexcept {
  if (cancelled_.load(std::memory_order_acquire)) return true;
  if (!has_limits()) return false;
  try {
    if (const auto cause = token_.cause())
      static_cast<void>(mark_cancelled(*cause));
    else if (deadline_.passed(pool_->now()))
      static_cast<void>(mark_cancelled(overdue_error()));
  } catch (const std::bad_alloc&) {  // no memory to say why: whoever asks next may have some
  }
  return cancelled_.load(std::memory_order_acquire);
}

Error CommandState::overdue_error() const {
  return Error{kernel_, ErrorCode::deadline_exceeded, "the deadline passed"};
}

void CommandState::cancel() noexcept {
  try {
    pool_->cancel(*this, Error{kernel_, ErrorCode::cancelled, "cancelled by the caller"});
  } catch (const std::bad_alloc&) {  // it goes on
  }
}

bool CommandState::mark_cancelled(const Error& why) {
  const std::scoped_lock lock{mutex_};
  const CommandStatus now = status();
  if (now != CommandStatus::pending && now != CommandStatus::running) return false;
  if (cancelled_.load(std::memory_order_relaxed)) return false;
  cancel_reason_ = why;
  cancelled_.store(true, std::memory_order_release);
  return true;
}

std::optional<Error> CommandState::cancel_reason() const {
  if (!cancelled_.load(std::memory_order_acquire)) return std::nullopt;
  const std::scoped_lock lock{mutex_};
  return cancel_reason_;
}

void CommandState::finish(Result<void> result) {
  const bool cancelled = cancelled_.load(std::memory_order_acquire);
  const CommandStatus end = result      ? CommandStatus::completed
                            : cancelled ? CommandStatus::cancelled
                                        : CommandStatus::failed;
  // The status flips before anybody is woken, so that whoever wakes sees it.
  CommandStatus now = status_.load(std::memory_order_acquire);
  while (now == CommandStatus::pending || now == CommandStatus::running)
    if (status_.compare_exchange_weak(now, end, std::memory_order_acq_rel)) {
      // What they call holds this command: they end after the lock is free.
      Timer timer;
      CancelRegistration registration;
      {
        const std::scoped_lock lock{mutex_};
        std::swap(timer, timer_);
        std::swap(registration, registration_);
      }
      static_cast<void>(complete(std::move(result)));
      return;
    }
}

void CommandState::assist(std::chrono::steady_clock::time_point deadline) noexcept {
  std::uint64_t value = point_value_.load(std::memory_order_acquire);
  const auto patience = std::min(deadline, std::chrono::steady_clock::now() + turn_patience);
  while (value == 0 && !ready() && std::chrono::steady_clock::now() < patience) {
    relax();
    value = point_value_.load(std::memory_order_acquire);
  }
  if (value == 0 || ready()) return;
  const auto backend = pool_->backend();
  if (!backend) return;
  // In slices, because a cancel ends the command before the device is done; and not for long,
  // because whoever waits longer does not need the microseconds this saves.
  const QueuePoint point{point_queue_.load(std::memory_order_relaxed), value};
  const auto until = std::min(deadline, std::chrono::steady_clock::now() + assist_limit);
  for (auto now = std::chrono::steady_clock::now(); !ready() && now < until;
       now = std::chrono::steady_clock::now())
    if (backend->wait(point, std::min(until, now + assist_slice))) return;
}

}  // namespace stoker
