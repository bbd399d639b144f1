// One allocation of this thread that fails, for tests of what happens then.
#pragma once

#include <cstddef>

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

}  // namespace stoker
