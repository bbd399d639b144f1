// How often, and how soon, a system opens a lost device again.
#pragma once

#include <chrono>

#include "stoker/actors/supervisor/back_off.hpp"

namespace stoker {

/// How often a lost device is opened again: after 10 ms, 20 ms, … up to 5 s; more than 10 times within
/// a minute and it stays lost.
struct DeviceRestarts {
  unsigned intensity = 10;
  std::chrono::nanoseconds period = std::chrono::seconds{60};  ///< positive
  BackOff back_off = {
      .first = std::chrono::milliseconds{10}, .factor = 2, .most = std::chrono::seconds{5}};
};

}  // namespace stoker
