// The timers of one clock: an intrusive pairing heap under a mutex. Arming is O(1); taking the
// earliest and removing any node are O(log n) amortised. (Fredman, Sedgewick, Sleator, Tarjan:
// "The pairing heap", 1986.)
//
// Threads: every function may be called from any thread; expired() is called outside the lock, by
//          one thread at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace stoker {

/// A timer that a clock expires. Owned by the code that arms it; must live until it has expired or
/// was disarmed.
class TimerNode {
 public:
  /// Called on the clock's thread; must be tiny (post, unpark) and may arm and disarm nodes.
  virtual void expired() noexcept = 0;

 protected:
  ~TimerNode() = default;

 private:
  friend class TimerQueue;
  std::chrono::steady_clock::time_point due_;
  std::uint64_t order_ = 0;  // equal times expire in the order they were armed
  TimerNode* child_ = nullptr;
  TimerNode* sibling_ = nullptr;
  TimerNode* previous_ = nullptr;  // the left sibling, or the parent of a first child
  bool armed_ = false;
};

class TimerQueue {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// True if the node became the earliest, so that the clock must look again.
  bool arm(TimerNode& node, time_point due) noexcept;
  /// See Clock::disarm.
  bool disarm(TimerNode& node) noexcept;
  /// Calls expired() on the earliest node if it is due by `now`; false if none is. `due` (if not
  /// null) is set to the node's time before the call.
  bool expire_one(time_point now, time_point* due = nullptr) noexcept;
  /// The earliest due time, or time_point::max().
  [[nodiscard]] time_point next_due() const noexcept;

 private:
  static bool before(const TimerNode& a, const TimerNode& b) noexcept;
  static TimerNode* meld(TimerNode* a, TimerNode* b) noexcept;
  static TimerNode* combine(TimerNode* first) noexcept;
  void unlink(TimerNode& node) noexcept;

  mutable std::mutex mutex_;
  std::condition_variable fired_;
  TimerNode* root_ = nullptr;
  TimerNode* firing_ = nullptr;
  std::thread::id firing_thread_;
  std::uint64_t next_order_ = 0;
};

}  // namespace stoker
