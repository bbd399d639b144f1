// Locks a mutex that is only ever held briefly: spins a little before sleeping.
//
// Such a mutex is held for tens of nanoseconds. Sleeping on it costs the sleeper and the waker a system call
// each, a hundred times as long. No holder may wait, call out or copy much under the mutex.
#pragma once

#include <mutex>

#include "stoker/runtime/base/relax.hpp"

namespace stoker {

[[nodiscard]] inline std::unique_lock<std::mutex> spin_then_lock(std::mutex& mutex) {
  constexpr int attempts = 64;
  for (int i = 0; i < attempts; ++i) {
    std::unique_lock lock{mutex, std::try_to_lock};
    if (lock) return lock;
    relax();
  }
  return std::unique_lock{mutex};
}

}  // namespace stoker
