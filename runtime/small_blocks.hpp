// Memory for the small objects that one thread makes and another destroys: envelopes.
//
// A general allocator gives such memory back to the thread that asked for it, under a lock; here each
// thread keeps what it frees, and hands it on 128 blocks at a time. (The idea is that of Bonwick and
// Adams, "Magazines and Vmem", USENIX 2001.)
//
// Threads: any. Memory: at most `most_kept` free blocks wait in the shared store, and two magazines in
// each thread; the rest goes back to the heap. Under the address sanitizer every block is the heap's.
#pragma once

#include <cstddef>

namespace stoker::small_blocks {

inline constexpr std::size_t block_bytes = 64;
inline constexpr std::size_t magazine_size = 128;
inline constexpr std::size_t most_kept = std::size_t{512} * magazine_size;

/// A block of block_bytes, aligned for anything. Throws std::bad_alloc.
[[nodiscard]] void* take();
void give(void* block) noexcept;
/// Free blocks in the shared store.
[[nodiscard]] std::size_t kept() noexcept;

}  // namespace stoker::small_blocks
