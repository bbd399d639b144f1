#include "stoker/runtime/base/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace stoker {
namespace {

unsigned cores_of_affinity() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where there are more cores than a cpu_set_t holds.
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
    return static_cast<unsigned>(CPU_COUNT(&set));
  return std::thread::hardware_concurrency();
}

/// "<microseconds of processor time, or max> <microseconds of period>"
unsigned cores_of_quota(unsigned otherwise) noexcept {
  try {
    std::ifstream file{"/sys/fs/cgroup/cpu.max"};
    double time = 0;
    double period = 0;
    if (file >> time >> period && time > 0 && period > 0)  // "max" does not parse
      return static_cast<unsigned>(
          std::ceil(std::min(time / period, static_cast<double>(otherwise))));
  } catch (...) {
    // A file that cannot be read sets no limit.
  }
  return otherwise;
}

}  // namespace

unsigned usable_cores() noexcept {
  const unsigned cores = std::max(1U, cores_of_affinity());
  return std::clamp(cores_of_quota(cores), 1U, cores);
}

}  // namespace stoker
