// Blocks of ordinary host memory, aligned for any kernel; the memory of the cpu and null devices.
#pragma once

#include <memory>

#include "stoker/device/backend.hpp"

namespace stoker {

/// `bytes` of memory aligned to 64 bytes (to 2 MiB, with huge pages asked for, when it is large).
/// out_of_memory when the host refuses. Any thread.
[[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate_host_block(std::uint64_t bytes,
                                                                       MemoryKind kind);

/// Installed memory in bytes, or what the container may use if that is less.
[[nodiscard]] std::uint64_t host_memory_bytes() noexcept;

/// 64 bytes: what kernels may assume of every buffer and scratch pointer.
inline constexpr std::size_t host_alignment = 64;

}  // namespace stoker
