// What a device knows about one buffer: its spec, its memory and its users.
//
// Ownership: handles and commands that have not ended share a BufferState, so memory returns to the
// pool once the last handle is gone, or release() was called, and the device has finished with it. A *late* buffer
// gets its memory when the first command that uses it is submitted to the device. Once the last such command has been
// submitted, the next late buffer may take the memory over.
// Threads: the spec, the id, `released` and `unsettled` from any thread; everything under `strand only` is
// touched by the turns of the device's strand alone, but that a SettledReads::Reading may read `memory`.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "stoker/device/memory/memory_pool.hpp"
#include "stoker/device/memory/poison.hpp"

namespace stoker {

struct HeldUses;  // held_commands.hpp

struct BufferState {
  /// A buffer without memory is a late one.
  BufferState(std::uint64_t number, TensorSpec what, std::shared_ptr<MemoryLease> where)
      : id{number}, spec{what}, late{!where}, unsettled{late ? 1U : 0U}, memory{std::move(where)} {}

  const std::uint64_t id;  ///< unique on its device, from 1
  const TensorSpec spec;
  const bool late;
  std::atomic<bool> released{false};
  /// Why the contents are not there for good: commands that are to write them and have not ended, each counted from
  /// before it is sent (ExpectedWrites); failed writers; that a late buffer was never written. 0: settled.
  std::atomic<std::uint32_t> unsettled;

  // --- strand only -----------------------------------------------------------------------------
  /// Null once the buffer may not be used any more, and for a late buffer before its first use.
  std::shared_ptr<MemoryLease> memory;
  std::uint32_t users = 0;    ///< uses by commands that have not ended
  std::uint32_t waiting = 0;  ///< of these, by commands that are not submitted yet
  bool dropped = false;       ///< the memory is freed after the last use
  bool shared = false;        ///< the host uses the memory, too
  bool unsound = late;        ///< nobody has written it, or a writer failed; counted in `unsettled`

  /// The held commands that use the buffer; null if there never was one.
  std::shared_ptr<HeldUses> held;

  Poison poison;

  /// A writer has ended, and `poison` knows how.
  void note_written() noexcept {
    if (std::exchange(unsound, !poison.empty()) == unsound) return;
    if (unsound)
      unsettled.fetch_add(1, std::memory_order_seq_cst);
    else
      unsettled.fetch_sub(1, std::memory_order_seq_cst);
  }
};

}  // namespace stoker
