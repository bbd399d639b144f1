// Processes that the soak ends on purpose: children forked from it while all its threads work, and
// programs that call exit() with work in flight.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/api/stoker.hpp"

namespace stoker::bench {

/// How processes ended. Threads: any.
struct ProcessTally {
  std::atomic<std::uint64_t> ended{0};   ///< with the status they should end with
  std::atomic<std::uint64_t> failed{0};  ///< with another status, or a signal
  std::atomic<std::uint64_t> hung{0};    ///< killed after their time limit
};

/// Forks until `over`, one child at a time. Each child uses the parent's handles, which must refuse with
/// `forked_process`, runs a kernel on a system of its own, and exits.
void fork_children(const System& system, const Device& device, const std::atomic<bool>& over,
                   ProcessTally& tally);

/// Starts this program as `--exit-busy SEED` until `over`, one at a time.
void exit_programs(const std::atomic<bool>& over, ProcessTally& tally);

/// The program behind `--exit-busy SEED`: keeps a CPU device busy with products and elementwise
/// kernels, then calls exit() on a random thread at a random moment. Returns only if it cannot start.
int exit_busy(unsigned seed);

}  // namespace stoker::bench
