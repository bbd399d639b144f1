#include "stoker/api/command.hpp"

namespace stoker {
namespace {

std::chrono::nanoseconds duration_of(const StepTiming& timing) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(timing.end_ns - timing.begin_ns)};
}

}  // namespace

Result<void> Command::wait_for(std::chrono::nanoseconds patience) const {
  const auto outcome = future();
  if (outcome.wait_for(patience)) return *outcome.poll();
  return Error{state_->kernel(), ErrorCode::deadline_exceeded, "not done yet; it goes on"};
}

std::chrono::nanoseconds Command::device_time() const { return duration_of(state_->timing()); }

std::vector<std::chrono::nanoseconds> Command::step_times() const {
  std::vector<std::chrono::nanoseconds> times;
  for (const StepTiming& timing : state_->step_timings()) times.push_back(duration_of(timing));
  return times;
}

}  // namespace stoker
