// What a device knows of one buffer: its spec, its memory, and who may touch it when.
//
// Ownership: handles and commands that have not ended share a BufferState, so memory returns to the
// pool when the last handle is gone, or release() was called, and the device is done.
// Threads: the spec, the id and `released` from any thread; everything under `strand only` is
// touched by the turns of the device's strand alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/memory_pool.hpp"

namespace stoker {

struct BufferState {
  BufferState(std::uint64_t number, TensorSpec what, std::shared_ptr<MemoryLease> where)
      : id{number}, spec{what}, memory{std::move(where)} {}

  const std::uint64_t id;  ///< unique on its device, from 1
  const TensorSpec spec;
  std::atomic<bool> released{false};

  // --- strand only -----------------------------------------------------------------------------
  std::shared_ptr<MemoryLease> memory;  ///< null once nobody may use it again
  std::uint32_t users = 0;              ///< uses by commands that have not ended
  bool dropped = false;                 ///< the memory goes with the last of them

  /// The highest value of each queue at which somebody writes or reads the buffer.
  std::array<std::uint64_t, queue_kinds> written{};
  std::array<std::uint64_t, queue_kinds> read{};
  /// Of the queue that read it last: the highest value of the reads before that one.
  std::uint64_t read_before = 0;

  /// Uses within the submission that is being put together (`batch` tells which one).
  std::uint64_t batch = 0;
  std::optional<std::uint32_t> batch_writer;
  boost::container::small_vector<std::uint32_t, 4> batch_readers;

  /// The scan of the queue that found a waiting command on this buffer: later ones must not
  /// overtake it.
  std::uint64_t held = 0;

  /// Failed or cancelled writers, oldest first, until a later command overwrites everything. Only
  /// commands after a writer suffer from it.
  struct Poison {
    std::uint64_t sequence = 0;  ///< of the writer
    Error cause;
  };
  std::vector<Poison> poison;

  /// Why the contents mean nothing to the command with that sequence number, or null.
  [[nodiscard]] const Error* poison_for(std::uint64_t sequence) const noexcept {
    return !poison.empty() && poison.front().sequence < sequence ? &poison.front().cause : nullptr;
  }
};

}  // namespace stoker
