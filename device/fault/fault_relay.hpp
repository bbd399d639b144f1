// Stands between a device with injected faults and whoever opened it: the sink that the device
// underneath reports to, and the judge of what becomes of each submission.
//
//     begin() ─▶ running ──(underneath completes)──▶ done ──(not held, not hung, in order)──▶ told
//                   └───────────────(lost: told once nothing runs underneath)──────────────┘
//
// Order: a queue's submissions are told in order, and one that waits for another queue's point
// after that point. Nothing is told after a loss, or after close() has returned.
//
// Ownership: shared by the backend that wraps the device, by the device underneath (its sink) and
// by whoever acts on the device through Faults. Knows neither backend.
// Threads: any. The sink is called without a lock, by one thread at a time: whoever finds that
// something can be told tells it, and what others add meanwhile, too.
#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stoker/device/fault/fault_plan.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker {

class FaultRelay final : public CompletionSink, public std::enable_shared_from_this<FaultRelay> {
 public:
  /// `sink` outlives the time until close() has returned.
  FaultRelay(std::shared_ptr<FaultPlan> plan, std::string device, CompletionSink& sink);
  ~FaultRelay();

  [[nodiscard]] const std::string& device() const noexcept { return device_; }
  /// Why the device is lost, or will be told to be as soon as nothing runs underneath.
  [[nodiscard]] std::optional<Error> loss() const;

  /// Before the device underneath is handed a submission of these steps. A failure is the answer to
  /// give instead.
  [[nodiscard]] Result<void> begin(const Submission& submission, std::span<const Step> steps);
  /// The device underneath has refused what was begun last.
  void retract(QueuePoint point);

  /// Whether the device underneath still has to reach the point.
  [[nodiscard]] bool runs(QueuePoint point);
  /// Until the point is told (true), the device is lost or `deadline` has passed.
  [[nodiscard]] bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline);

  void lose(const Error& why);
  void release(std::uint64_t count);
  /// Whatever is held back or delayed may complete.
  void hurry();
  [[nodiscard]] std::uint64_t held();
  /// Nothing is told any more. Waits a bounded time for another thread that tells something.
  void close();

  // CompletionSink, for the device underneath
  void on_completed(Completion completion) noexcept override;
  void on_lost(Error reason) noexcept override;

 private:
  class Delay;
  struct Flight {
    QueuePoint point;
    std::array<std::uint64_t, queue_kinds> waits{};
    bool done = false;  ///< underneath
    bool held = false;
    bool hung = false;
    std::unique_ptr<Delay> delay;  ///< destroyed without the lock: it waits for the clock's thread
    std::vector<StepFailure> failures;
    Completion completion;
  };
  using Flights = std::array<Ring<Flight>, queue_kinds>;

  void delay_over(QueuePoint point);
  [[nodiscard]] Flight* find(QueuePoint point);
  /// Tells whatever can be told, unless another thread is at it. The lock is held again at the end, and
  /// the caller holds a share.
  void deliver(std::unique_lock<std::mutex>& lock) noexcept;
  [[nodiscard]] std::optional<Flight> take_next();
  void tell(Flight flight) noexcept;

  const std::shared_ptr<FaultPlan> plan_;
  const std::string device_;
  CompletionSink& sink_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Flights flights_;
  std::array<std::uint64_t, queue_kinds> told_{};
  std::uint64_t running_ = 0;  ///< flights that are not done underneath
  std::optional<Error> loss_;
  bool loss_told_ = false;
  bool closed_ = false;
  std::optional<std::thread::id> teller_;
};

}  // namespace stoker
