// How commands end: with what their submission reported, or with the failure of one whose output they read.
//
// What a failed command would have written is poisoned; whoever reads it before it is overwritten fails with
// the same Error, and nobody else does.
//
// Threads: report() from any; everything else on the device's strand.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/device/commands/flights.hpp"
#include "stoker/device/commands/scheduler_hooks.hpp"
#include "stoker/runtime/queue/bounded_queue.hpp"

namespace stoker {

class Settlement {
 public:
  /// `hooks` outlives this. At most `flights` submissions are in flight.
  Settlement(const SchedulerHooks& hooks, std::size_t flights) : hooks_{hooks}, reports_{flights} {}

  /// Keeps what the backend says of a submission, before its point counts as complete. False if there is no
  /// memory for that.
  [[nodiscard]] bool report(Completion& completion) noexcept;

  /// Why the command must not run at all, if so. `settled` is how far each queue has come.
  [[nodiscard]] std::optional<Error> refusal(CommandState& command,
                                             const Hazards::Values& settled) const;
  /// Ends all commands of a submission that is complete.
  void settle(QueueKind queue, const Flight& flight);
  /// Does and ends the reads that follow it from the one at `next` on, as far as they come after no more than `ended`
  /// of its commands. Returns the place of the next one.
  std::size_t settle_followers(const Flight& flight, std::size_t next, std::size_t ended);
  /// From now on a read is the host's: no later command overwrites what it reads until it has ended.
  static void begin_on_host(CommandWork& read) noexcept;
  /// Does such a read, unless it has failed, and ends it.
  void settle_on_host(CommandState& read, std::optional<Error> failure);
  /// Ends a command: poisons what it writes or lifts the poison, tells whoever waits.
  void settle(CommandState& command, std::optional<Error> failure, StepTiming timing);
  /// The command has ended before it came here: it counts as completed.
  void count_completed() noexcept { completed_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_.load(relaxed); }
  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_.load(relaxed); }
  [[nodiscard]] std::uint64_t cancelled() const noexcept { return cancelled_.load(relaxed); }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  struct Report {
    QueuePoint point;
    std::vector<StepFailure> failures;
    std::vector<StepTiming> timings;
  };

  [[nodiscard]] Report take_report(QueuePoint point);
  [[nodiscard]] std::optional<Error> poison_of(const CommandWork& work) const;
  void note_outcome(CommandWork& work, CommandState& command, const std::optional<Error>& failure);

  const SchedulerHooks& hooks_;
  // Only of those with failures or timings: one for each flight at most.
  BoundedQueue<Report> reports_;
  std::vector<Report> early_;  // of flights that wait for another queue's
  bool any_poison_ = false;    // a command has failed: buffers are looked at from then on
  std::atomic<std::uint64_t> completed_{0}, failed_{0}, cancelled_{0};
};

}  // namespace stoker
