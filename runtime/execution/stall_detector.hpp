// Finds work that hogs a thread: a handler that blocks or computes for long starves others that
// wait for its thread, and only its author can fix it. The detector names it while it runs.
//
// Each thread notes in its own slot what it starts and ends; the clock's thread inspects the slots
// periodically, because all of the executor's threads may be hogged. Noting costs a few stores.
//
// Threads: any. Lifetime: belongs to an executor and ends with it; the clock must outlive both.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

/// Work that has held its thread for longer than the limit.
struct StalledThread {
  std::string who;
  std::chrono::nanoseconds at_least{};
};

class StallDetector final : private TimerNode {
 public:
  /// Called on the clock's thread. Exceptions are logged. It may call stop(), but not start().
  using Report = std::function<void(const StalledThread&)>;

  /// The current work of one thread.
  class Slot {
   public:
    /// `id` identifies the name cheaply. False if other work already runs here; that work continues
    /// to be watched.
    [[nodiscard]] bool begin(std::uint64_t id, std::string_view name) noexcept;
    /// After a begin() that returned true.
    void end() noexcept { step_.fetch_add(1, std::memory_order_release); }

   private:
    friend class StallDetector;
    static constexpr std::size_t words = 6;
    std::atomic<std::uint64_t> step_{0};  // odd while something runs
    std::atomic<std::uint64_t> id_{0};
    std::array<std::atomic<std::uint64_t>, words> name_{};
    // Used by the watch:
    bool used_ = true;
    std::uint64_t seen_ = 0;
    Clock::time_point since_;
    bool reported_ = false;
  };

  StallDetector();
  ~StallDetector() { stop(); }
  StallDetector(const StallDetector&) = delete;
  StallDetector& operator=(const StallDetector&) = delete;

  /// Checks every half `limit`, and reports each piece of work that has run for the limit once. A
  /// later start() replaces the first.
  void start(Clock& clock, std::chrono::nanoseconds limit, Report report);
  /// When it returns, no report is running, except one that called it.
  void stop() noexcept;
  /// The calling thread's slot. Null unless it watches.
  [[nodiscard]] Slot* here();
  /// Slots in use: one for each thread that has run something and has not ended since.
  [[nodiscard]] std::size_t threads() const;

 private:
  /// Outlives the watch while a thread still has a slot.
  struct Slots;
  struct Returned;
  void expired() noexcept override;
  void report_hogs() noexcept;
  void stop_locked() noexcept;
  [[nodiscard]] std::vector<StalledThread> look();

  const ForkGuard fork_;
  const std::uint64_t number_;  // of this watch in the process
  std::atomic<bool> watching_{false};
  std::atomic<std::thread::id> reporter_{};  // who is inside a report
  std::mutex starting_;                      // start() and stop() exclude each other
  Clock* clock_ = nullptr;                   // while it may be armed
  const std::shared_ptr<Slots> slots_;
  std::mutex mutex_;  // of what follows
  std::chrono::nanoseconds limit_{};
  std::shared_ptr<const Report> report_;  // one that runs has a share
};

}  // namespace stoker
