// What a device has been handed and has not settled: its submissions, and how far each of its queues has come.
//
//     a queue's values:   settled ≤ completed ≤ submitted
//
// Threads: complete() and reached() from any; everything else on the device's strand.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/commands/command_state.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker {

/// A submission in flight.
struct Flight {
  std::uint64_t value = 0;           ///< of its queue
  std::vector<CommandPtr> commands;  ///< step i is that of command i, or all are one replay's
  /// A small read, which the host does when the flight settles. The device knows nothing of it.
  struct Follower {
    CommandPtr read;
    std::size_t after = 0;  ///< it ends after so many of the commands
  };
  std::vector<Follower> followers;  ///< in the order of `after`
  std::vector<std::shared_ptr<MemoryLease>> scratch;
  std::array<std::uint64_t, queue_kinds> waits{};  ///< the value of each queue that it waits for

  /// The number of commands that end with it.
  [[nodiscard]] std::size_t size() const noexcept { return commands.size() + followers.size(); }
};

class Flights {
 public:
  using Points = std::array<QueuePoint, queue_kinds>;

  /// An empty one, in memory that another has left.
  [[nodiscard]] Flight take();
  void reuse(Flight flight);

  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::size_t count(QueueKind queue) const noexcept {
    return in_flight_[index_of(queue)].size();
  }
  /// Of the next submission of a queue.
  [[nodiscard]] std::uint64_t next_value(QueueKind queue) const noexcept {
    return submitted_[index_of(queue)] + 1;
  }
  /// The highest point handed over, per queue.
  [[nodiscard]] Points submitted() const noexcept;
  /// The highest value settled, per queue.
  [[nodiscard]] const std::array<std::uint64_t, queue_kinds>& settled() const noexcept {
    return settled_;
  }

  /// The queue whose flight has to settle until these values of all queues have settled; nothing if several have to.
  /// Precondition: not all have settled.
  [[nodiscard]] std::optional<QueueKind> last_to_settle(
      const std::array<std::uint64_t, queue_kinds>& values) const noexcept;
  /// The flight of that value; null if there is none.
  [[nodiscard]] Flight* find(QueuePoint point) noexcept;
  /// The points that the device has to reach before it begins the flight, in `room`.
  [[nodiscard]] std::span<const QueuePoint> waits_of(Flight& flight, Points& room) const noexcept;
  /// It is handed over next; the device may complete it inside of that call.
  void add(QueueKind queue, Flight flight);
  /// The device has refused the flight that was added last.
  [[nodiscard]] Flight take_back(QueueKind queue);

  /// Whether the oldest flight of a queue is complete, and what it waited for is settled. That may be
  /// reported later, though it was done before; until then the backend uses what the flight keeps.
  [[nodiscard]] bool can_settle(QueueKind queue) const noexcept;
  /// Takes that flight out: it counts as settled.
  [[nodiscard]] Flight settle(QueueKind queue);
  /// Takes out all: everything that was submitted counts as settled.
  [[nodiscard]] std::array<Ring<Flight>, queue_kinds> settle_all();

  /// The device has reached the point.
  void complete(QueuePoint point) noexcept {
    completed_[index_of(point.queue)].store(point.value, std::memory_order_seq_cst);
  }
  [[nodiscard]] bool reached(QueuePoint point) const noexcept {
    return point.value <= completed_[index_of(point.queue)].load(std::memory_order_seq_cst);
  }

 private:
  std::array<Ring<Flight>, queue_kinds> in_flight_;
  std::array<std::uint64_t, queue_kinds> submitted_{};
  std::array<std::uint64_t, queue_kinds> settled_{};
  std::array<std::uint64_t, queue_kinds> floor_{};  // later submissions wait for these
  std::array<std::atomic<std::uint64_t>, queue_kinds> completed_{};
  std::vector<Flight> spare_;
};

}  // namespace stoker
