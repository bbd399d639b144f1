#include "stoker/api/command.hpp"

#include "stoker/device/commands/command_state.hpp"

namespace stoker {
namespace {

std::chrono::nanoseconds duration_of(const StepTiming& timing) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(timing.end_ns - timing.begin_ns)};
}

}  // namespace

Command::Command(CommandPtr state, std::shared_ptr<DeviceClient> device) noexcept
    : state_{std::move(state)}, device_{std::move(device)} {}

CommandState& Command::command() const noexcept { return static_cast<CommandState&>(*state_); }

CommandPtr Command::state() const noexcept {
  return boost::static_pointer_cast<CommandState>(state_);
}

std::uint64_t Command::id() const noexcept { return command().id(); }

const std::string& Command::kernel() const noexcept { return command().kernel(); }

CommandStatus Command::poll() const noexcept {
  const CommandStatus status = command().status();
  if (status == CommandStatus::failed) state_->observe();
  return status;
}

std::uint32_t Command::steps_done() const noexcept { return command().steps_done(); }

std::uint32_t Command::steps() const noexcept { return command().steps(); }

CommandStatus Command::step_status(std::uint32_t step) const noexcept {
  return command().step_status(step);
}

Result<void> Command::wait_for(std::chrono::nanoseconds patience) const {
  const auto outcome = future();
  if (outcome.wait_for(patience)) return *outcome.poll();
  return Error{kernel(), ErrorCode::deadline_exceeded, "not done yet; it goes on"};
}

std::chrono::nanoseconds Command::device_time() const { return duration_of(command().timing()); }

std::vector<std::chrono::nanoseconds> Command::step_times() const {
  std::vector<std::chrono::nanoseconds> times;
  for (const StepTiming& timing : command().step_timings()) times.push_back(duration_of(timing));
  return times;
}

}  // namespace stoker
