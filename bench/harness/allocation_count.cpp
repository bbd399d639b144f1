#include "stoker/bench/harness/allocation_count.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> count{0};
std::atomic<std::uint64_t> size{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) {
    count.fetch_add(1, std::memory_order_relaxed);
    size.fetch_add(bytes, std::memory_order_relaxed);
  }
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (!memory) throw std::bad_alloc{};
  return memory;
}

}  // namespace

// The forms for arrays and those with nothrow call these.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace stoker::bench {

AllocationCount::AllocationCount() noexcept {
  count.store(0);
  size.store(0);
  counting.store(true);
}

AllocationCount::~AllocationCount() { counting.store(false); }

std::uint64_t AllocationCount::calls() const noexcept { return count.load(); }
std::uint64_t AllocationCount::bytes() const noexcept { return size.load(); }

}  // namespace stoker::bench
