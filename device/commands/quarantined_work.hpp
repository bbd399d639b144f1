// What submissions use that were given up and that the device may not have done with: their memory is kept
// until it has, because lost memory is better than spoilt memory.
//
// Threads: any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/commands/flights.hpp"

namespace stoker {

class QuarantinedWork {
 public:
  /// Keeps what the flight uses, and `owner`, to which the backend reports.
  void add(QueueKind queue, const Flight& flight, std::shared_ptr<const void> owner);
  /// Lets go of what the device has done with: all of it, or up to the points that `flights` has reached. With
  /// the last of it goes the owner.
  void reclaim(const Flights& flights, bool all) noexcept;
  [[nodiscard]] std::size_t count() const noexcept {
    return count_.load(std::memory_order_seq_cst);
  }

 private:
  struct Quarantined {
    QueuePoint point;
    std::vector<CommandPtr> commands;  ///< whose progress it tells
    std::vector<std::shared_ptr<const void>> memory;
    std::vector<std::function<void(const Error*)>> results;  ///< own what reads write to
  };
  std::mutex mutex_;
  std::vector<Quarantined> quarantined_;
  std::shared_ptr<const void> owner_;  // while there are any
  std::atomic<std::size_t> count_{0};
};

}  // namespace stoker
