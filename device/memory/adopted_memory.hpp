// Memory of the program's as memory of a device that can address it: no copy, no allocation.
//
// Ownership: the lease keeps `owner`, which keeps the bytes. It is dropped when the last buffer and the
// last command that uses it are gone, on whatever thread that happens: its destructor must not wait.
// Threads: any. Units: bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "stoker/device/memory/memory_pool.hpp"

namespace stoker {

/// A lease of no pool: it counts against no budget. Precondition: aligned to host_alignment.
[[nodiscard]] std::shared_ptr<MemoryLease> adopt_memory(std::span<std::byte> bytes,
                                                        std::shared_ptr<const void> owner);

}  // namespace stoker
