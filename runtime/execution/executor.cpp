#include "stoker/runtime/execution/executor.hpp"

#include <string>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/execution/stack_pool.hpp"
#include "stoker/runtime/execution/stall_detector.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {

Executor::Executor()
    : stacks_(std::make_unique<StackPool>()), turn_watch_(std::make_unique<StallDetector>()) {}

Executor::~Executor() {
  if (const std::size_t left = live_processes(); left != 0)
    log_error("executor destroyed while processes were parked on it",
              {{"processes", std::to_string(left)}});
}

namespace detail {

void log_escaped_exception(const char* where) noexcept {
  log_failure(LogLevel::error, "an exception was thrown where nobody can catch it",
              error_from_current_exception(where));
}

}  // namespace detail
}  // namespace stoker
