// Statistics of a device: memory, commands, and backend operations.
//
// Values, each taken at one moment. Threads: as values.
#pragma once

#include <cstdint>

namespace stoker {

/// Statistics of a memory pool.
struct MemoryStats {
  std::uint64_t budget = 0;       ///< bytes the pool may take from the device
  std::uint64_t in_use = 0;       ///< bytes leased (rounded to their size classes)
  std::uint64_t cached = 0;       ///< bytes held for reuse
  std::uint64_t peak = 0;         ///< highest in_use
  std::uint64_t leases = 0;       ///< alive
  std::uint64_t allocations = 0;  ///< blocks taken from the device since the start
  std::uint64_t reuses = 0;       ///< leases served without asking the device
};

/// Statistics of a device's scheduler.
struct SchedulerStats {
  std::uint64_t commands_submitted = 0;
  std::uint64_t commands_completed = 0;
  std::uint64_t commands_failed = 0;
  std::uint64_t commands_cancelled = 0;
  std::uint64_t submissions = 0;
  std::uint64_t queued = 0;       ///< commands that are not submitted to the backend yet
  std::uint64_t in_flight = 0;    ///< submitted commands that are not complete
  std::uint64_t quarantined = 0;  ///< abandoned submissions that may still access their memory
};

/// Counters since the device was opened, for stats() and tests.
struct BackendCounters {
  std::uint64_t submissions = 0;  ///< calls to the driver's queue
  std::uint64_t barriers = 0;
  std::uint64_t pipelines = 0;  ///< current number, not a count since then
  std::uint64_t pipelines_created = 0;
  std::uint64_t pipelines_from_cache = 0;  ///< of these, found in the cache on disk
  std::uint64_t recordings = 0;
  std::uint64_t encoded = 0;  ///< command buffers that were recorded, for one run or for replay
  std::uint64_t validation_messages = 0;
};

}  // namespace stoker
