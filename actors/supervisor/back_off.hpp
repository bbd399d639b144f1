// How long a supervisor waits before it starts a child again.
#pragma once

#include <chrono>

namespace stoker {

/// How long a restart waits: `first`, then `factor` times as long for each restart within the period,
/// up to `most`. Zero: restarts do not wait.
struct BackOff {
  std::chrono::nanoseconds first{0};
  double factor = 2;
  std::chrono::nanoseconds most = std::chrono::seconds{30};
};

}  // namespace stoker
