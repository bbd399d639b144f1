// What a caller may say about any command: a deadline, points to wait for, a cancellation token.
//
// Values. Threads: as values.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "stoker/runtime/futures/cancel_token.hpp"
#include "stoker/runtime/futures/timeline_point.hpp"

namespace stoker {

/// What may accompany any command. For designated initialisers.
struct CommandOptions {
  /// On the system's clock. A command that has not ended by then is cancelled with deadline_exceeded,
  /// also one whose deadline is over when it is submitted: that one never runs.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Points of host timelines that must be reached before the command runs.
  std::vector<TimelinePoint> waits = {};
  /// Cancels the command with the cause of its source. Many commands may share one.
  CancelToken cancel = {};
};

}  // namespace stoker
