// Counts this program's calls of operator new, on all threads.
//
// The count is the one piece of global state in the benchmarks: operator new can be replaced in no
// other way. It is off unless asked for, and then costs an atomic addition per allocation.
#pragma once

#include <cstdint>

namespace stoker::bench {

/// Calls of operator new on any thread while the object lives. One at a time.
class AllocationCount {
 public:
  AllocationCount() noexcept;
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  [[nodiscard]] std::uint64_t calls() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

}  // namespace stoker::bench
