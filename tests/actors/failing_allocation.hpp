// One allocation of this thread that fails, for tests of what happens then.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

/// While it exists, the allocation of this thread that is number `which`, from 0, throws std::bad_alloc.
/// One at a time on a thread.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::size_t which) noexcept;
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  /// Whether there were that many.
  [[nodiscard]] bool failed() const noexcept;
};

/// How many allocations of the program, on all threads, are not freed.
[[nodiscard]] std::int64_t live_allocations() noexcept;

}  // namespace stoker
