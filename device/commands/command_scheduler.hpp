// Orders a device's commands by the hazards of their buffers, makes few submissions of many commands, and
// settles every command exactly once. Its callers have checked the commands.
//
//     submit() ─▶ queue ──pump()──▶ in flight ──(backend completes)──▶ settlement ─▶ command is done
//                   │                                                     ▲
//                   └── cancelled, expired, poisoned input ───────────────┘
//
// Each part is a noun of its own:
//     held_commands.hpp        commands that wait for the host; others overtake them
//     submission_builder.hpp   what is submitted together, and in which order (hazards.hpp)
//     flights.hpp              what is in flight, which small reads the host does at its end, and how far each
//                              queue has come
//     settlement.hpp           how commands end, and what failures poison
//     deferred_memory.hpp      when buffers get memory and pass it on
//     quarantined_work.hpp     what abandoned submissions still use
//     settled_reads.hpp        threads that use settled buffers without any of this (in device/memory)
//
// Order: a command waits for exactly the writers of what it reads and the users of what it writes; commands
// of one submission are ordered by edges between steps, so independent ones overlap. A command that finds no memory
// waits as long as work in flight may free some.
//
// Cancellation: a queued command never runs. A running one cannot be stopped, except that a backend may skip the steps
// that have not begun: the command is marked, its result is dropped (poisoned) when it ends, and its dependents fail
// with it. Deadlines and tokens are checked when a command arrives, when it is submitted, before each step, and when
// it ends.
//
// Threads: functions marked [strand] are called by the turns of the device's strand, one at a
// time; the others from any thread. Lifetime: shared by handles, commands and the device's actor;
// work in flight keeps memory and executables alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "stoker/device/backend.hpp"
#include "stoker/device/commands/command_state.hpp"
#include "stoker/device/commands/deferred_memory.hpp"
#include "stoker/device/commands/flights.hpp"
#include "stoker/device/commands/held_commands.hpp"
#include "stoker/device/commands/quarantined_work.hpp"
#include "stoker/device/commands/scheduler_hooks.hpp"
#include "stoker/device/commands/settlement.hpp"
#include "stoker/device/commands/submission_builder.hpp"
#include "stoker/device/executable_cache.hpp"
#include "stoker/device/memory/buffer_state.hpp"
#include "stoker/device/memory/dropped_buffers.hpp"
#include "stoker/device/memory/memory_pool.hpp"
#include "stoker/device/memory/settled_reads.hpp"
#include "stoker/device/scheduler_options.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/runtime/futures/future.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker {

/// Errors: invalid_argument for a number out of its range.
[[nodiscard]] Result<void> check(const SchedulerOptions& options);

class CommandScheduler final : public CompletionSink,
                               public std::enable_shared_from_this<CommandScheduler> {
 public:
  /// Up to so many bytes a copy takes less time than to hand it over.
  static constexpr std::uint64_t small_copy = std::uint64_t{16} * 1024;

  /// Opens device `index` of `driver`.
  [[nodiscard]] static Result<std::shared_ptr<CommandScheduler>> open(
      Driver& driver, std::size_t index, const OpenOptions& open_options,
      const SchedulerOptions& options);
  explicit CommandScheduler(const SchedulerOptions& options);
  ~CommandScheduler();

  /// Before the first submit().
  void set_hooks(SchedulerHooks hooks);

  // --- any thread ------------------------------------------------------------------------------
  [[nodiscard]] const DeviceInfo& info() const noexcept { return backend_->info(); }
  [[nodiscard]] const std::shared_ptr<Backend>& backend() const noexcept { return backend_; }
  [[nodiscard]] MemoryPool& pool() noexcept { return *pool_; }
  [[nodiscard]] ExecutableCache& executables() noexcept { return *executables_; }
  [[nodiscard]] SchedulerStats stats() const noexcept;
  /// SchedulerStats::queued.
  [[nodiscard]] std::uint64_t queued() const noexcept {
    return count_queued_.load(std::memory_order_relaxed);
  }
  /// Memory for a new buffer with undefined contents.
  [[nodiscard]] Result<std::shared_ptr<BufferState>> make_buffer(const TensorSpec& spec,
                                                                 std::string_view op);
  /// A new buffer that gets its memory when it is needed. The errors of MemoryPool::check().
  [[nodiscard]] Result<std::shared_ptr<BufferState>> make_late_buffer(const TensorSpec& spec,
                                                                      std::string_view op);
  /// A new buffer in memory that is there already.
  [[nodiscard]] std::shared_ptr<BufferState> make_buffer(const TensorSpec& spec,
                                                         std::shared_ptr<MemoryLease> memory);
  /// The device_lost Error once the device is lost, else nothing.
  [[nodiscard]] std::optional<Error> lost() const;
  /// Sequentially consistent with notified_: a loss is seen by the turn that was notified before it.
  [[nodiscard]] bool is_lost() const noexcept { return is_lost_.load(std::memory_order_seq_cst); }
  [[nodiscard]] const SchedulerOptions& options() const noexcept { return options_; }
  /// Fails when the scheduler is destroyed, and the device with it unless its backend is still shared.
  [[nodiscard]] Future<void> gone() const noexcept { return gone_.future(); }

  /// Only commands that were sent before still use the buffer. Returns false if the device is idle: then no turn is
  /// certain to release it.
  [[nodiscard]] bool drop(std::shared_ptr<BufferState> buffer);
  /// Whether dropped buffers wait for a turn.
  [[nodiscard]] bool has_dropped() { return dropped_.any(); }
  /// Lets this thread use buffers now, past the queue: nothing is on the way that would change them. None if something
  /// is, and if what runs is to be timed.
  [[nodiscard]] SettledReads::Reading read_settled(std::span<BufferState* const> buffers) noexcept;
  /// The reading did what a command would have done; `is_run` if that was to compute.
  void count_done(SettledReads::Reading& reading, bool is_run) noexcept;
  [[nodiscard]] const SettledReads& settled_reads() const noexcept { return settled_reads_; }
  /// Waits until no thread reads any more, after close(); false if some still do at `until`.
  [[nodiscard]] bool await_readers(std::chrono::steady_clock::time_point until) const noexcept;
  [[nodiscard]] bool reached(QueuePoint point) const noexcept { return flights_.reached(point); }

  // --- [strand] --------------------------------------------------------------------------------
  /// With `refused` the command ends at once with that error.
  void submit(const CommandPtr& command, std::optional<Error> refused = {});
  /// Runs steps on these buffers inside the call and ends the command. Returns nothing, and changes nothing, if the
  /// device is busy or cannot do that. Returns an error if a step failed; pass the command to submit() with it then.
  [[nodiscard]] std::optional<Result<void>> run_at_once(
      CommandState& command, std::span<const Step> steps,
      std::span<const std::shared_ptr<BufferState>> buffers);
  /// Settles what completed, then submits what can go. Called after submit() and when notified.
  void turn();
  /// Ends the command with `why`, or with the error it was marked with before. Its waiters are notified now. If it
  /// runs, its outputs are poisoned at its end.
  void cancel(CommandState& command, const Error& why);
  /// Drops the buffer's memory once the commands submitted before have ended; later ones get
  /// `released`.
  void release(BufferState& buffer) { memory_.release(buffer); }
  /// The same of a buffer that still has handles, and was marked `released`: a thread may use it at this moment.
  void release_for_good(const std::shared_ptr<BufferState>& buffer);
  /// Releases dropped buffers, if `all_delivered()` says that all messages sent before have arrived.
  void release_dropped(const std::function<bool()>& all_delivered);
  /// See DeferredMemory::share().
  [[nodiscard]] std::shared_ptr<MemoryLease> share(BufferState& buffer) {
    return memory_.share(buffer);
  }
  /// Fails everything that queues with `why` and accepts no more.
  void close(const Error& why);
  /// Ends what is in flight, too, without waiting for it. Call after close(). What it may still touch is kept until
  /// the device has finished, or for ever: such work is counted, and keeps the scheduler alive.
  void abandon(const Error& why);
  /// The device hangs: it counts as lost from now on, and what is in flight is abandoned.
  void give_up(const Error& why);
  [[nodiscard]] bool idle() const noexcept;
  /// The highest point handed over, per queue.
  [[nodiscard]] Flights::Points submitted() const noexcept { return flights_.submitted(); }

  // --- CompletionSink: the backend's thread, or inside turn() ----------------------------------
  void on_completed(Completion completion) noexcept override;
  void on_lost(Error reason) noexcept override;

 private:
  /// False if the command is no small copy, or cannot run now; then nothing has happened.
  [[nodiscard]] bool copy_at_once(CommandState& command);
  /// Whether a thread uses a buffer that the work is to write. Then a turn comes when it has done.
  [[nodiscard]] bool is_read_elsewhere(const CommandWork& work) noexcept;
  /// Releases what release_for_good() has left, as far as it can.
  void release_unread();
  void pump();
  /// Puts the next works of one queue into a submission. False if nothing could go.
  bool submit_batch();
  /// Whether the command at the front of the queue may join the submission that is being built, and has its
  /// memory; nothing if it has to wait, an error if it must not run.
  [[nodiscard]] std::optional<Result<void>> admit(const CommandWork& work, QueueKind queue);
  /// Drops the cancelled commands at the front of the queue.
  void skip_cancelled();
  /// A small read at the front of the queue needs no submission: the host does it when the last writer's flight
  /// settles, which is in flight or `next` on `queue`, or at once. Returns false, and changes nothing, if the command
  /// is no such read or there is no such flight.
  [[nodiscard]] bool read_on_host(std::optional<QueueKind> queue, Flight& next);
  void hand_over(QueueKind queue, Flight flight, Replay* replay);
  void settle_completed();
  void settle_loss();
  void abandon_flights(const Error& why, bool may_still_run);
  void note_lost(Error reason) noexcept;
  void notify() noexcept;

  const Promise<void> gone_;  // first: broken when all else is gone
  const SchedulerOptions options_;
  SchedulerHooks hooks_;
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<ExecutableCache> executables_;
  std::atomic<std::uint64_t> next_buffer_{1};

  Flights flights_;
  SubmissionBuilder builder_{flights_};
  Settlement settlement_;
  DeferredMemory memory_;
  DroppedBuffers dropped_;
  QuarantinedWork quarantined_;
  SettledReads settled_reads_;

  // strand only
  Ring<CommandPtr> queue_;
  std::size_t cancelled_in_queue_ = 0;  // they stay until they reach the front
  HeldCommands held_;
  std::vector<std::shared_ptr<BufferState>> released_;  // while threads use them
  std::uint64_t sequence_ = 0;
  bool closed_ = false;
  std::optional<Error> close_reason_;
  bool loss_settled_ = false;
  std::shared_ptr<CommandScheduler> keep_alive_;  // while anything queues or runs

  // shared with the backend's thread
  std::atomic<bool> notified_{true};  // nothing can be notified before set_hooks()
  mutable std::mutex loss_mutex_;
  std::optional<Error> lost_;
  std::atomic<bool> is_lost_{false};
  std::atomic<bool> runs_on_{false};  // a lost device may; set before is_lost_

  std::atomic<std::uint64_t> count_submitted_{0}, count_submissions_{0}, count_queued_{0},
      count_in_flight_{0};
};

}  // namespace stoker
