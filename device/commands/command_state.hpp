// A command as its handles see it: a future with an id, a state and times.
//
//     pending ──(handed to the backend)──▶ running ──▶ completed | failed
//        └───────────────(cancel, deadline)──┴───────▶ cancelled
//
// Ownership: counted; handles, the device's queue and the flight share it; its memory comes from and
// returns to a CommandPool. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/command_status.hpp"
#include "stoker/device/commands/command_work.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

class CommandPool;

class CommandState final : public FutureState<void>, public StopSign {
  static constexpr std::uint32_t no_step = ~std::uint32_t{0};

 public:
  /// Made by CommandPool::make().
  CommandState(std::uint64_t number, std::string_view kernel, std::shared_ptr<CommandPool> pool)
      : id_{number}, kernel_{kernel}, pool_{std::move(pool)} {}
  ~CommandState() override = default;

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// The kernel, or "copy", "fill", "read", "write", "pipeline".
  [[nodiscard]] const std::string& kernel() const noexcept { return kernel_; }
  [[nodiscard]] CommandStatus status() const noexcept {
    return status_.load(std::memory_order_acquire);
  }

  /// Steps done and steps in all; a single command has one.
  [[nodiscard]] std::uint32_t steps_done() const noexcept;
  [[nodiscard]] std::uint32_t steps() const noexcept { return steps_; }
  void set_steps(std::uint32_t steps) noexcept { steps_ = steps; }
  /// What has become of one step, by its place in the order of execution. Steps that may overlap
  /// are counted: with n done, the first n are said to be completed.
  [[nodiscard]] CommandStatus step_status(std::uint32_t step) const noexcept;
  [[nodiscard]] std::atomic<std::uint32_t>* progress() noexcept { return &progress_; }

  /// When it ran on the device, if submissions were timed; zeros otherwise.
  [[nodiscard]] StepTiming timing() const;
  [[nodiscard]] std::vector<StepTiming> step_timings() const;

  // --- for the scheduler, on the device's strand -----------------------------------------------------
  void set_running() noexcept;
  void set_failed_step(std::uint32_t step) noexcept;
  void set_point(QueuePoint point) noexcept;
  /// Where it was handed over to; value 0: nowhere yet.
  [[nodiscard]] QueuePoint point() const noexcept {
    const std::uint64_t value = point_value_.load(std::memory_order_acquire);
    return {point_queue_.load(std::memory_order_relaxed), value};
  }
  void set_timing(StepTiming timing);
  void set_step_timings(std::vector<StepTiming> timings);
  /// When it shall have ended, and who may end it before. Once, before it is sent.
  void set_limits(Deadline deadline, CancelToken token);
  [[nodiscard]] bool has_limits() const noexcept { return deadline_.exists() || token_.valid(); }
  /// What tells it of its limits; stopped when it ends. Once, before it is sent.
  void set_alarms(Timer timer, CancelRegistration registration);
  /// Remembers why it shall end; false if it has ended or shall end already. Any thread.
  bool mark_cancelled(const Error& why);
  /// Whether it shall end: it was cancelled, or its deadline has passed, or its token was cancelled, which
  /// marks it. Any thread.
  [[nodiscard]] bool must_end() noexcept override;
  [[nodiscard]] Error overdue_error() const;
  [[nodiscard]] std::optional<Error> cancel_reason() const;
  /// Ends it: the status becomes completed, failed or cancelled and everybody who waits is woken.
  /// Only the first call counts.
  void finish(Result<void> result);

  /// What it does: filled by whoever makes it, the strand's once sent, empty when it has ended.
  CommandWork work;

  /// Called by a plain thread that is about to block: waits on the device directly.
  void assist(std::chrono::steady_clock::time_point deadline) noexcept override;
  /// As Command::cancel().
  void cancel() noexcept override;

 private:
  void destroy() const noexcept override;  // command_pool.cpp

  const std::uint64_t id_;
  const std::string kernel_;
  const std::shared_ptr<CommandPool> pool_;
  std::atomic<CommandStatus> status_{CommandStatus::pending};
  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> point_value_{0};  ///< 0: not handed over yet
  std::atomic<QueueKind> point_queue_{QueueKind::compute};
  std::uint32_t steps_ = 1;
  std::atomic<std::uint32_t> progress_{0};
  std::atomic<std::uint32_t> failed_step_{no_step};
  Deadline deadline_;
  CancelToken token_;
  mutable std::mutex mutex_;  // of what follows
  Error cancel_reason_;
  StepTiming timing_;
  std::vector<StepTiming> step_timings_;
  Timer timer_;
  CancelRegistration registration_;
};

using CommandPtr = boost::intrusive_ptr<CommandState>;

}  // namespace stoker
