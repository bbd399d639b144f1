// Options of any command: a deadline, points to wait for, a cancellation token.
//
// Values. Threads: as values.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "stoker/runtime/futures/cancel_token.hpp"
#include "stoker/runtime/futures/timeline_point.hpp"

namespace stoker {

/// Options of any command, for designated initializers.
struct CommandOptions {
  /// On the system's clock. A command that has not ended by then is cancelled with
  /// deadline_exceeded. If the deadline has passed at submission, the command never runs.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Points of host timelines that must be reached before the command runs.
  std::vector<TimelinePoint> waits = {};
  /// Cancels the command with the cause of its source. Many commands may share one.
  CancelToken cancel = {};
};

}  // namespace stoker
