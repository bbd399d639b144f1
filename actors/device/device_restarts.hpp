// How often, and how soon, a system opens a lost device again.
#pragma once

#include <chrono>

#include "stoker/actors/supervisor/back_off.hpp"

namespace stoker {

/// Restart limits of a lost device. By default it is opened again after 10 ms, 20 ms, … up to 5 s;
/// after more than 10 times within a minute it stays lost.
struct DeviceRestarts {
  unsigned intensity = 10;
  std::chrono::nanoseconds period = std::chrono::seconds{60};  ///< positive
  BackOff back_off = {
      .first = std::chrono::milliseconds{10}, .factor = 2, .most = std::chrono::seconds{5}};
};

}  // namespace stoker
