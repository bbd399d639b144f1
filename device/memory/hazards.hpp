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
#include <vector>

#include "stoker/device/backend.hpp"

namespace stoker {

class Hazards {
 public:
  using Values = std::array<std::uint64_t, queue_kinds>;

  /// The submission of that value on `queue` uses the memory. Raises `waits` to what it must wait for, but
  /// not to what is `settled`.
  void use(QueueKind queue, std::uint64_t value, bool writes, const Values& settled,
           Values& waits) noexcept;
  /// The last of `steps`, of the submission with the number `batch`, uses the memory: adds the steps of that
  /// submission that it comes after.
  void order(std::uint64_t batch, std::vector<Step>& steps, bool writes);
  /// The highest value of each queue at which somebody writes the memory.
  [[nodiscard]] const Values& written() const noexcept { return written_; }
  /// The host is to read the memory when its writers have settled; until it has, nobody may overwrite it.
  void begin_host_read() noexcept { ++host_reads_; }
  void end_host_read() noexcept { --host_reads_; }
  [[nodiscard]] bool is_read_on_host() const noexcept { return host_reads_ > 0; }
  /// Whether everybody who was handed over as a writer has settled.
  [[nodiscard]] bool is_written(const Values& settled) const noexcept {
    return written_[0] <= settled[0] && written_[1] <= settled[1];
  }

 private:
  /// The highest value of each queue at which somebody writes or reads the memory.
  Values written_{};
  Values read_{};
  /// Of the queue that read it last: the highest value of the reads before that one.
  std::uint64_t read_before_ = 0;
  std::uint32_t host_reads_ = 0;

  /// Uses within the submission that is being put together (`batch_` tells which one).
  std::uint64_t batch_ = 0;
  std::optional<std::uint32_t> batch_writer_;
  boost::container::small_vector<std::uint32_t, 4> batch_readers_;
};

}  // namespace stoker
