// Who may touch a piece of memory when: what a device remembers of the uses that it has handed over.
//
// Hazards belong to the memory, not to the buffer: memory that is given to another buffer while the
// uses of the one before are still in flight brings them along, and the new uses wait for them.
//
// Ownership: part of a MemoryLease. Threads: touched by the turns of the device's strand alone.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>

#include "stoker/device/backend.hpp"

namespace stoker {

struct Hazards {
  /// The highest value of each queue at which somebody writes or reads the memory.
  std::array<std::uint64_t, queue_kinds> written{};
  std::array<std::uint64_t, queue_kinds> read{};
  /// Of the queue that read it last: the highest value of the reads before that one.
  std::uint64_t read_before = 0;

  /// Uses within the submission that is being put together (`batch` tells which one).
  std::uint64_t batch = 0;
  std::optional<std::uint32_t> batch_writer;
  boost::container::small_vector<std::uint32_t, 4> batch_readers;
};

}  // namespace stoker
