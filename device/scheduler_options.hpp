// Options for opening a device: memory and queues.
//
// Values. Threads: as values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stoker {

/// Options of a device's memory pool.
struct MemoryOptions {
  std::uint64_t budget = 0;       ///< 0: 7/8 of the device's memory
  std::uint64_t cache_limit = 0;  ///< 0: a quarter of the budget
};

/// Options of a device: its memory, and how much work is submitted at once.
struct SchedulerOptions {
  MemoryOptions memory = {};
  /// Per queue, 1 to 4,096. Further commands wait in Stoker's queue, where they can be cancelled.
  std::size_t submissions_in_flight = 3;
  std::size_t steps_per_submission = 256;  ///< 1 to 65,536
  /// How long after its deadline a command may still run before the device counts as hung, which is
  /// a way of being lost. Not negative.
  std::chrono::nanoseconds hang_patience = std::chrono::seconds{30};
};

}  // namespace stoker
