// What a device's scheduler does inside of a call, because it takes less time than to hand it over.
#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"

namespace stoker {

bool CommandScheduler::copy_at_once(CommandState& command) {
  const CommandWork& work = command.work;
  const bool fits = !work.replay && work.step.kind == StepKind::copy && idle() &&
                    work.step.outputs[0].bytes <= small_copy &&
                    (!work.on_result || work.quick_result);
  if (!fits) return false;
  const Operand& from = work.step.inputs[0];
  const Operand& to = work.step.outputs[0];
  boost::container::small_vector<std::shared_ptr<BufferState>, 2> buffers;
  for (const Operand* operand : {&from, &to})
    if (const auto* buffer = std::get_if<std::shared_ptr<BufferState>>(&operand->memory)) {
      if (!(*buffer)->memory) return false;
      buffers.push_back(*buffer);
    }
  Step step;
  step.kind = StepKind::copy;
  step.inputs.push_back(from.view());
  step.outputs.push_back(to.view());
  return run_at_once(command, {&step, 1}, {buffers.data(), buffers.size()}).has_value();
}

std::optional<Result<void>> CommandScheduler::run_at_once(
    CommandState& command, std::span<const Step> steps,
    std::span<const std::shared_ptr<BufferState>> buffers) {
  if (closed_ || !idle() || is_lost() || !command.work.waits.empty()) return std::nullopt;
  if (hooks_.wants_timing()) return std::nullopt;
  const bool usable = std::ranges::all_of(buffers, [](const auto& buffer) {
    return !buffer->dropped && buffer->memory && buffer->poison.empty();
  });
  if (!usable || command.must_end() || is_read_elsewhere(command.work)) return std::nullopt;
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
  settlement_.count_completed();
  command.progress()->store(static_cast<std::uint32_t>(steps.size()), std::memory_order_relaxed);
  if (hooks_.observer) hooks_.observer->on_settled(command, nullptr, {});
  auto on_result = std::move(command.work.on_result);
  if (on_result) DeferredWakes::flush();  // it, and its end, may be a user's
  command.work.clear();  // before anybody is woken: who waits for the command finds its memory free
  if (on_result) on_result(nullptr);
  on_result = nullptr;
  command.finish({});
  return Result<void>{};
}

// --- past the strand ------------------------------------------------------------------------------

SettledReads::Reading CommandScheduler::read_settled(
    std::span<BufferState* const> buffers) noexcept {
  if (hooks_.wants_timing()) return {};
  return settled_reads_.begin(buffers);
}

void CommandScheduler::count_done(SettledReads::Reading& reading, bool is_run) noexcept {
  reading.count_done(is_run);
  if (hooks_.observer) hooks_.observer->on_done_past_the_queue();
}

bool CommandScheduler::is_read_elsewhere(const CommandWork& work) noexcept {
  return std::ranges::any_of(
      work.writes, [this](const BufferState* buffer) { return settled_reads_.is_read(*buffer); });
}

void CommandScheduler::release_for_good(const std::shared_ptr<BufferState>& buffer) {
  if (!settled_reads_.is_read(*buffer)) return release(*buffer);
  try {
    released_.push_back(buffer);     // a later turn comes back to it
  } catch (const std::bad_alloc&) {  // the memory goes with the last handle
  }
}

void CommandScheduler::release_unread() {
  std::erase_if(released_, [this](const std::shared_ptr<BufferState>& buffer) {
    const bool is_read = settled_reads_.is_read(*buffer);
    if (!is_read) release(*buffer);
    return !is_read;
  });
}

bool CommandScheduler::await_readers(std::chrono::steady_clock::time_point until) const noexcept {
  // They use a processor, and never for long.
  while (!settled_reads_.none()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace stoker
