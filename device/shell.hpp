// The checked shell around a backend: orders commands by the hazards of their buffers, makes few
// submissions of many commands, and settles every command exactly once.
//
//     submit() ─▶ queue ──pump()──▶ in flight ──(backend completes)──▶ settle ─▶ command is done
//                   │                                                     ▲
//                   └── cancelled, expired, poisoned input ───────────────┘
//
// Hazards: a piece of memory remembers, per queue, the highest value that writes and that reads it. A
// command waits for exactly the writers of what it reads and the users of what it writes; commands
// of one submission are ordered by edges between steps, so independent ones overlap.
//
// Waiting: who waits for the outside, or for one before it that does, is held beside the queue
// (held_commands.hpp) and overtaken by whoever does not touch its buffers.
//
// Memory: late buffers get theirs when the first command that uses them goes to the backend: what is
// free, else what a dropped buffer will leave that only work in flight still uses (the hazards order
// the two), else new. A kernel's scratch memory comes then, too. If there is none, commands wait for as
// long as something in flight may give some back. So however far a program runs ahead, memory follows what is alive and in flight.
//
// Failure: what a failed command would have written is poisoned; whoever reads it before it is
// overwritten fails with the same Error, and nobody else does.
//
// Cancellation: what still queues never runs. What runs cannot be stopped, but for the steps that it has
// not begun where the backend can leave them out: it is marked, its result dropped (poisoned) when it
// ends, and its dependents fail with it. Deadlines and tokens are looked at when a command comes, when
// it goes to the backend, before each step, and when it ends.
//
// Threads: functions marked [strand] are called by the turns of the device's strand, one at a
// time; the others from any thread. Lifetime: shared by handles, commands and the device's actor;
// work in flight keeps memory and executables alive.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/buffer_state.hpp"
#include "stoker/device/command_state.hpp"
#include "stoker/device/executable_cache.hpp"
#include "stoker/device/held_commands.hpp"
#include "stoker/device/memory_pool.hpp"
#include "stoker/device/shell_options.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/runtime/futures/future.hpp"
#include "stoker/runtime/queue/bounded_queue.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker {

/// Told what happens, for traces and metrics. Called on the strand; must be quick.
class ShellObserver {
 public:
  virtual ~ShellObserver() = default;
  virtual void on_settled(const CommandState& command, const Error* failure,
                          StepTiming timing) noexcept = 0;
  /// A turn of the shell has ended; nanoseconds on the steady clock. Only while wants_timing().
  virtual void on_turn(std::uint64_t /*begin_ns*/, std::uint64_t /*end_ns*/) noexcept {}
  /// Whether submissions should be timed right now.
  [[nodiscard]] virtual bool wants_timing() const noexcept = 0;
};

class DeviceShell final : public CompletionSink, public std::enable_shared_from_this<DeviceShell> {
 public:
  /// `poke` asks the owner to call turn() on the strand soon; any thread. `run_later` runs a
  /// function off the strand, or destroys it. Both may do nothing once the owner is gone.
  struct Hooks {
    std::function<void()> poke;
    std::function<void(std::function<void()>)> run_later;
    std::shared_ptr<ShellObserver> observer = {};
  };

  /// Opens device `index` of `driver`.
  [[nodiscard]] static Result<std::shared_ptr<DeviceShell>> open(Driver& driver, std::size_t index,
                                                                 const OpenOptions& open_options,
                                                                 const ShellOptions& options);
  explicit DeviceShell(const ShellOptions& options);
  ~DeviceShell();

  /// Before the first submit().
  void set_hooks(Hooks hooks);

  // --- any thread ------------------------------------------------------------------------------
  [[nodiscard]] const DeviceInfo& info() const noexcept { return backend_->info(); }
  [[nodiscard]] const std::shared_ptr<Backend>& backend() const noexcept { return backend_; }
  [[nodiscard]] MemoryPool& pool() noexcept { return *pool_; }
  [[nodiscard]] ExecutableCache& executables() noexcept { return *executables_; }
  [[nodiscard]] ShellStats stats() const noexcept;
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
  [[nodiscard]] bool is_lost() const noexcept { return is_lost_.load(std::memory_order_acquire); }
  [[nodiscard]] const ShellOptions& options() const noexcept { return options_; }
  /// Fails when this has ended, and the device with it unless somebody else has its backend.
  [[nodiscard]] Future<void> gone() const noexcept { return gone_.future(); }

  /// Nobody can reach the buffer any more but the commands that were sent before. Any thread. False if the
  /// device is idle: then no turn is sure to come that releases it.
  [[nodiscard]] bool drop(std::shared_ptr<BufferState> buffer);
  /// Whether dropped buffers wait for a turn. Any thread.
  [[nodiscard]] bool has_dropped();

  // --- [strand] --------------------------------------------------------------------------------
  /// With `refused` the command ends at once: it could not be put together.
  void submit(CommandPtr command, std::optional<Error> refused = {});
  /// Runs steps on these buffers inside of the call and ends the command. Nothing, and nothing has
  /// changed, if the device is busy or does not do that; an error if a step failed, and then the
  /// command goes to submit() with it.
  [[nodiscard]] std::optional<Result<void>> run_at_once(
      CommandState& command, std::span<const Step> steps,
      std::span<const std::shared_ptr<BufferState>> buffers);
  /// Settles what completed, then submits what can go. Called after submit() and when poked.
  void turn();
  /// The command ends with `why`, or with what it was marked with before. Who waits for it hears now; if
  /// it runs, its outputs are poisoned at its end.
  void cancel(CommandState& command, const Error& why);
  /// Drops the buffer's memory once the commands submitted before have ended; later ones get
  /// `released`.
  void release(const std::shared_ptr<BufferState>& buffer);
  /// Releases what was dropped, if `all_delivered()` then says that whoever was sent before is here.
  void release_dropped(const std::function<bool()>& all_delivered);
  /// The buffer's memory for somebody who uses it beside the device, to be kept beyond a release;
  /// nobody else gets it meanwhile. Null if it was released or there is none to be had.
  [[nodiscard]] std::shared_ptr<MemoryLease> share(BufferState& buffer);
  /// Fails everything that queues with `why` and accepts no more.
  void close(const Error& why);
  /// Ends what is in flight, too, without waiting for it. What that may still touch is kept until the
  /// device has done with it, or for ever: then it is counted, and this stays with it. After close().
  void abandon(const Error& why);
  /// The device does not come back from what it runs: it counts as lost from now on, and what is in
  /// flight is abandoned.
  void give_up(const Error& why);
  [[nodiscard]] bool reached(QueuePoint point) const noexcept {
    return point.value <= completed_[index_of(point.queue)].load(std::memory_order_acquire);
  }
  [[nodiscard]] bool idle() const noexcept;
  /// The highest point handed over, per queue.
  [[nodiscard]] std::array<QueuePoint, queue_kinds> submitted() const noexcept;

  // --- CompletionSink: the backend's thread, or inside turn() ----------------------------------
  void on_completed(Completion completion) noexcept override;
  void on_lost(Error reason) noexcept override;

 private:
  /// One submission in flight.
  struct Flight {
    std::uint64_t value = 0;
    std::vector<CommandPtr> commands;  ///< step i is that of command i, or all are one replay's
    std::vector<std::shared_ptr<MemoryLease>> scratch;
    std::array<std::uint64_t, queue_kinds> waits{};
  };
  /// What an abandoned submission uses that the device may not have done with.
  struct Muted {
    QueuePoint point;
    std::vector<CommandPtr> commands;  ///< whose progress it tells
    std::vector<std::shared_ptr<const void>> memory;
    std::vector<std::function<void(const Error*)>> results;  ///< own what reads write to
  };
  struct Report {
    QueuePoint point;
    std::vector<StepFailure> failures;
    std::vector<StepTiming> timings;
  };

  void pump();
  /// Puts the next works of one queue into a submission. False if nothing could go.
  bool submit_batch();
  /// Why the command must not run at all, if so.
  [[nodiscard]] std::optional<Error> refusal(CommandState& command) const;
  /// Whether everybody who has been handed over as a writer of the memory has settled.
  [[nodiscard]] bool is_written(MemoryLease& memory) const noexcept {
    const Hazards& at = memory.hazards();
    return at.written[0] <= settled_[0] && at.written[1] <= settled_[1];
  }
  /// Drops those at the front of the queue that were cancelled.
  void skip_cancelled();
  void add_step(CommandState& command, QueueKind queue, Flight& flight);
  /// Finds memory for the late buffers of a work, and scratch memory for its kernel.
  Result<void> provide(const CommandWork& work);
  Result<void> provide(BufferState& buffer);
  /// The work queues no more: late buffers that were dropped may leave their memory to others.
  void mark_handed_over(CommandWork& work);
  void leave_memory(BufferState& buffer);
  /// Gives back what was left and nobody uses any more.
  void sweep_left();
  /// Looks up the memory of a step.
  void resolve(const CommandStep& from, Step& step, Flight& flight);
  Result<void> record(Replay& replay, QueueKind queue, Flight& flight);
  Result<void> record_anew(Replay& replay);
  void note_use(const BufferState& buffer, bool writes, QueueKind queue, Step* step,
                Flight& flight);
  void hand_over(QueueKind queue, Flight flight, Replay* replay);

  void settle_completed();
  /// Whether the oldest flight of a queue is reported, and what it waited for is settled. That may
  /// be reported later, though it was done before; until then the backend uses what the flight keeps.
  [[nodiscard]] bool can_settle(std::size_t queue) const noexcept;
  void settle_flight(QueueKind queue, Flight& flight);
  [[nodiscard]] std::optional<Error> poison_of(const CommandWork& work) const;
  void settle(CommandState& command, std::optional<Error> failure, StepTiming timing);
  void abandon_flights(const Error& why, bool may_still_run);
  void mute(QueueKind queue, const Flight& flight);
  /// Any thread.
  void reclaim_muted(bool all) noexcept;
  void note_lost(Error reason) noexcept;
  /// What the backend said about a flight; it has been said before the point was complete.
  [[nodiscard]] Report take_report(QueuePoint point);
  [[nodiscard]] Flight take_flight();
  void reuse(Flight flight);

  const Promise<void> gone_;  // first: broken when all else is gone
  const ShellOptions options_;
  Hooks hooks_;
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<ExecutableCache> executables_;
  std::atomic<std::uint64_t> next_buffer_{1};

  // strand only
  Ring<CommandPtr> queue_;
  std::size_t cancelled_in_queue_ = 0;  // they stay until it is their turn
  HeldCommands held_;
  std::array<Ring<Flight>, queue_kinds> flights_;
  std::array<std::uint64_t, queue_kinds> submitted_{};  // highest value handed over
  std::array<std::uint64_t, queue_kinds> settled_{};    // highest value settled
  std::array<std::uint64_t, queue_kinds> floor_{};      // later submissions wait for these
  std::uint64_t sequence_ = 0;
  std::uint64_t batch_ = 0;
  bool any_poison_ = false;  // a command has failed: buffers are looked at from then on
  std::vector<Flight> spare_flights_;
  /// Of dropped buffers that work in flight still uses; oldest first.
  std::vector<std::shared_ptr<MemoryLease>> left_;
  std::vector<Report> early_reports_;  // of flights that wait for another queue's
  std::vector<Step> steps_;
  std::vector<std::shared_ptr<MemoryLease>> scratch_;  // of the work that is about to be added
  bool closed_ = false;
  std::optional<Error> close_reason_;
  std::shared_ptr<DeviceShell> keep_alive_;  // while anything queues or runs

  // shared with the backend's thread
  std::array<std::atomic<std::uint64_t>, queue_kinds> completed_{};
  std::atomic<bool> poked_{true};  // until there are hooks nobody can be poked
  BoundedQueue<Report>
      reports_;  // only completions with failures or timings: one per flight at most
  std::mutex dropped_mutex_;
  std::vector<std::shared_ptr<BufferState>> dropped_;
  std::vector<std::shared_ptr<BufferState>> releasing_;  // strand only
  mutable std::mutex loss_mutex_;
  std::optional<Error> lost_;
  std::atomic<bool> is_lost_{false};
  std::atomic<bool> runs_on_{false};  // it may, though it counts as lost; set before that
  bool loss_settled_ = false;         // strand only
  std::mutex muted_mutex_;
  std::vector<Muted> muted_;
  std::shared_ptr<DeviceShell> keep_muted_;  // while there are any: the backend reports to this

  std::atomic<std::uint64_t> count_submitted_{0}, count_completed_{0}, count_failed_{0},
      count_cancelled_{0}, count_submissions_{0}, count_queued_{0}, count_in_flight_{0},
      count_muted_{0};
};

}  // namespace stoker
