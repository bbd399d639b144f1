// Memory for the small objects that one thread makes and another destroys: envelopes, what a device
// knows of a buffer.
//
// A general allocator gives such memory back to the thread that asked for it, under a lock that both then
// wait for; here each thread keeps what it frees, and hands it on 128 blocks at a time. (The idea is that
// of Bonwick and Adams, "Magazines and Vmem", USENIX 2001.) There are blocks of a few sizes; what is larger
// is the heap's.
//
// Threads: any. Memory: for each size at most `most_kept_bytes` of free blocks wait in the shared store,
// and two magazines in each thread; the rest goes back to the heap. Under the address sanitizer every
// block is the heap's.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace stoker::small_blocks {

inline constexpr std::array<std::size_t, 4> sizes{64, 128, 256, 512};
inline constexpr std::size_t magazine_size = 128;
inline constexpr std::size_t most_kept_bytes = std::size_t{4} << 20;

/// How many free blocks of a size wait in the shared store at most.
[[nodiscard]] constexpr std::size_t most_kept(std::size_t size) noexcept {
  return most_kept_bytes / size;
}

/// At least so many bytes, aligned for anything. Throws std::bad_alloc.
[[nodiscard]] void* take(std::size_t bytes);
/// `bytes` as it was taken.
void give(void* block, std::size_t bytes) noexcept;
/// Free blocks of one of the sizes in the shared store.
[[nodiscard]] std::size_t kept(std::size_t size) noexcept;

/// For std::allocate_shared and containers whose memory another thread frees.
template <class T> struct Allocator {
  using value_type = T;
  Allocator() noexcept = default;
  template <class U> Allocator(const Allocator<U>&) noexcept {}  // NOLINT(google-explicit-*)
  [[nodiscard]] T* allocate(std::size_t n) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length{};
    return static_cast<T*>(take(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept { give(memory, n * sizeof(T)); }
  friend bool operator==(Allocator, Allocator) noexcept { return true; }
};

}  // namespace stoker::small_blocks
