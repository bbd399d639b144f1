#include "stoker/device/scheduler_options.hpp"

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

}  // namespace stoker
