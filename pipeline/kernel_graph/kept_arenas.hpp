// The memory that the pipelines of one device keep from run to run: arenas with what was recorded on
// them. All of them together are bounded in bytes: whenever another is kept, those that have not run for
// longest go, but none that runs, nor the new one itself.
//
// Threads: drop() and bytes() from any, the rest on the device's strand. One for each device
// (DeviceExtensions). In a child of fork() drop() does nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "stoker/device/commands/command_work.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

class KeptArenas {
 public:
  /// The bound is this part of what the device's pool may take.
  static constexpr std::uint64_t part_of_budget = 8;

  /// Keeps a replay that has its memory, and drops others as far as more than `limit` bytes are kept.
  void keep(const std::shared_ptr<Replay>& replay, std::uint64_t limit);
  /// It runs again.
  void use(const Replay& replay);
  /// Does nothing if it is not kept any more.
  void drop(const Replay& replay);
  /// Drops all that do not run; whether there were any.
  bool drop_idle();
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }

 private:
  struct Kept {
    std::shared_ptr<Replay> replay;
    std::uint64_t bytes = 0;
    [[nodiscard]] bool can_go() const noexcept { return bytes > 0 && !replay->busy; }
  };
  using Order = std::list<Kept>;
  /// Moves it to `to`, whose end frees it: outside the lock.
  void take(Order::iterator one, Order& to) noexcept;
  /// The same with all that can go, the oldest first, while more than `limit` bytes are kept.
  void take_idle(std::uint64_t limit, Order& to) noexcept;

  const ForkGuard fork_;
  std::mutex mutex_;
  Order order_;  // the one that has not run for longest first
  std::unordered_map<const Replay*, Order::iterator> places_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace stoker
