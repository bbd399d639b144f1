// What a device knows of one buffer: its spec, its memory, and who uses it.
//
// Ownership: handles and commands that have not ended share a BufferState, so memory returns to the
// pool when the last handle is gone, or release() was called, and the device is done. A *late*
// buffer gets its memory when the first command that uses it goes to the device, and gives it to the
// next one as soon as the last that uses it has gone there.
// Threads: the spec, the id and `released` from any thread; everything under `strand only` is
// touched by the turns of the device's strand alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "stoker/device/memory_pool.hpp"
#include "stoker/device/poison.hpp"

namespace stoker {

struct HeldUses;  // held_commands.hpp

struct BufferState {
  /// Without memory it is a late one.
  BufferState(std::uint64_t number, TensorSpec what, std::shared_ptr<MemoryLease> where)
      : id{number}, spec{what}, late{!where}, memory{std::move(where)} {}

  const std::uint64_t id;  ///< unique on its device, from 1
  const TensorSpec spec;
  const bool late;
  std::atomic<bool> released{false};

  // --- strand only -----------------------------------------------------------------------------
  /// Null once nobody may use it again; of a late buffer also before its first use.
  std::shared_ptr<MemoryLease> memory;
  std::uint32_t users = 0;    ///< uses by commands that have not ended
  std::uint32_t waiting = 0;  ///< of these, by commands that still queue
  bool dropped = false;       ///< the memory goes with the last of them
  bool shared = false;        ///< somebody beside the device uses the memory

  /// The held commands that use it; null if there never was one.
  std::shared_ptr<HeldUses> held;

  Poison poison;
};

}  // namespace stoker
