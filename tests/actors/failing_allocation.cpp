#include "failing_allocation.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>

namespace {
/// How many allocations of this thread succeed before one fails.
thread_local std::optional<std::size_t> before_failure;
thread_local bool has_failed = false;
/// Of the whole program.
std::atomic<std::int64_t> live = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (before_failure && !has_failed && (*before_failure)-- == 0) {
    has_failed = true;
    throw std::bad_alloc{};
  }
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = alignment <= alignof(std::max_align_t)
                           ? std::malloc(bytes ? bytes : 1)
                           : std::aligned_alloc(alignment, whole ? whole : alignment);
  if (memory == nullptr) throw std::bad_alloc{};
  live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}
}  // namespace

// Replaces the allocation functions of the program; the array forms call these. The nothrow forms are
// replaced, too: a sanitizer would serve them from its own heap and object to the delete below.
void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, static_cast<std::size_t>(alignment));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace stoker {

FailingAllocation::FailingAllocation(std::size_t which) noexcept {
  has_failed = false;
  before_failure = which;
}

FailingAllocation::~FailingAllocation() { before_failure.reset(); }

std::int64_t live_allocations() noexcept { return live.load(std::memory_order_relaxed); }

bool FailingAllocation::failed() const noexcept { return has_failed; }

}  // namespace stoker
