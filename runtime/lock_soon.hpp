// The lock of a mutex that everybody holds for tens of nanoseconds only.
//
// Going to sleep for it, and being woken by whoever holds it, costs both a call of the system, a hundred
// times as long. So one tries for a moment first. For mutexes under which nobody waits, calls out or
// copies much.
#pragma once

#include <mutex>

namespace stoker {

[[nodiscard]] inline std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  constexpr int attempts = 64;
  for (int i = 0; i < attempts; ++i) {
    std::unique_lock lock{mutex, std::try_to_lock};
    if (lock) return lock;
    __builtin_ia32_pause();
  }
  return std::unique_lock{mutex};
}

}  // namespace stoker
