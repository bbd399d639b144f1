// What the kernels of a run take by the device's own clock: the least that the run can take.
#pragma once

#include <functional>

#include "stoker/api/system.hpp"

namespace stoker::bench {

/// Seconds a run, all its kernels together, over some runs in which the system's trace is on. 0 if the device has no
/// such clock.
[[nodiscard]] double kernel_seconds(const System& system, const std::function<void()>& run);

}  // namespace stoker::bench
