// What a checked command does: what to run, on which memory, after which points.
//
// Ownership: a command's work shares everything it touches, so handles may go while it waits or
// runs. Threads: filled by the caller's thread, then touched by the device's strand alone.
#pragma once

#include <boost/container/small_vector.hpp>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "stoker/device/memory/buffer_state.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/runtime/futures/timeline_point.hpp"

namespace stoker {

/// A piece of memory that a step names: of a buffer, whose hazards count; of the command's own
/// (staging, scratch, an arena), which nobody else touches meanwhile; or a block outside the pool.
struct Operand {
  std::variant<std::shared_ptr<BufferState>, std::shared_ptr<MemoryLease>,
               std::shared_ptr<MemoryBlock>>
      memory;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  /// Null unless it is a buffer's.
  [[nodiscard]] BufferState* buffer() const noexcept {
    const auto* state = std::get_if<std::shared_ptr<BufferState>>(&memory);
    return state ? state->get() : nullptr;
  }
  [[nodiscard]] MemoryView view() const noexcept;
  /// Keeps the memory itself; of a buffer that was dropped, nothing.
  [[nodiscard]] std::shared_ptr<const void> owner() const noexcept;
};

/// A Step whose memory is not looked up yet.
struct CommandStep {
  StepKind kind = StepKind::dispatch;
  std::shared_ptr<const Executable> executable;
  boost::container::small_vector<Operand, 3> inputs;
  boost::container::small_vector<Operand, 1> outputs;
  boost::container::small_vector<Operand, 1> scratch;
  std::array<std::byte, 8> pattern{};
  std::uint8_t pattern_bytes = 4;
};

/// Made by whoever asks for a run, freed by the device.
using BufferStates = std::vector<std::shared_ptr<BufferState>>;

/// Steps that run many times, on memory that each run chooses: buffers are numbers here. Immutable,
/// shared.
struct ReplayPlan {
  struct Operand {
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  struct Step {
    std::shared_ptr<const Executable> executable;
    boost::container::small_vector<Operand, 3> inputs;
    boost::container::small_vector<Operand, 1> outputs;
    boost::container::small_vector<Operand, 1> scratch;
    std::vector<std::uint32_t> after;  ///< positions of earlier steps
  };
  /// How a run uses a buffer, for the hazards; readers first.
  struct Use {
    std::uint32_t buffer = 0;
    bool writes = false;
    bool overwrites = false;  ///< leaves nothing of what was there
  };
  std::vector<Step> steps;
  std::vector<Use> uses;
};

/// A plan on some memory, recorded on first use. Whoever submits it sets `busy`, and does not submit or
/// change it until the scheduler has cleared that.  [strand]
struct Replay {
  std::shared_ptr<const ReplayPlan> plan;
  std::shared_ptr<const BufferStates> bound;  ///< buffers 0 … of the plan
  std::shared_ptr<BufferState> arena;         ///< the buffer after those; null: there is none
  bool busy = false;
  bool passing = false;          ///< its memory goes when the run has ended
  bool runs_again = false;       ///< a next run is expected
  bool moved = true;             ///< it is on other memory than its recording
  std::vector<Step> steps = {};  ///< what was recorded
  std::unique_ptr<Recording> recording = {};

  /// Whether a next run can use the recording: on the same memory or, if that has gone, on other memory.
  [[nodiscard]] bool recording_stays() const noexcept { return !passing || !steps.empty(); }
  [[nodiscard]] BufferState* buffer(std::uint32_t number) const noexcept {
    return number < bound->size() ? (*bound)[number].get() : arena.get();
  }
};

class ReachedPoints;
struct HeldCommand;  // held_commands.hpp

/// Waits for a point of a host timeline on behalf of a held command.
class HostWait final : private TimelineWaiter {
 public:
  explicit HostWait(TimelinePoint point) noexcept : point_{std::move(point)} {}
  ~HostWait();
  /// Whether there is nothing to wait for.
  [[nodiscard]] bool is_reached() const noexcept {
    return point_.timeline->has_reached(point_.value);
  }
  /// Tells `inbox` when the point is reached or never will be. Once, on the device's strand.
  void arm(std::shared_ptr<ReachedPoints> inbox, std::shared_ptr<HeldCommand> command);
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// After done(): why the point will never be reached, or null.
  [[nodiscard]] const Error* failure() const noexcept {
    return done() && failure_ ? &*failure_ : nullptr;
  }

 private:
  void reached(const Error* failure) noexcept override;

  TimelinePoint point_;
  std::shared_ptr<ReachedPoints> inbox_;
  std::shared_ptr<HeldCommand> command_;
  std::optional<Error> failure_;
  std::atomic<bool> done_{false};
};

/// The buffers that a command is to write, which are not settled until it has ended.
///
/// Lifetime: within that of the command's share in them.
class ExpectedWrites {
 public:
  ExpectedWrites() noexcept = default;
  ~ExpectedWrites() { clear(); }
  ExpectedWrites(const ExpectedWrites&) = delete;
  ExpectedWrites& operator=(const ExpectedWrites&) = delete;

  /// Before the command is sent.
  void add(BufferState& buffer);
  /// Once its outcome is noted.
  void clear() noexcept;
  [[nodiscard]] auto begin() const noexcept { return buffers_.begin(); }
  [[nodiscard]] auto end() const noexcept { return buffers_.end(); }

 private:
  boost::container::small_vector<BufferState*, 2> buffers_;
};

/// Part of a CommandState, so that a command is one piece of memory from submit to completion.
struct CommandWork {
  std::uint64_t sequence = 0;  ///< order of submission on its device; the scheduler sets it
  bool handed_over = false;    ///< it queues no more; the scheduler sets it
  bool queued = false;         ///< it stands in the scheduler's queue; the scheduler sets it
  CommandStep step;
  std::shared_ptr<Replay> replay;  ///< if set, runs instead of `step`
  QueueKind queue = QueueKind::compute;
  /// Points of host timelines that must be reached before the command may be submitted.
  std::vector<std::unique_ptr<HostWait>> waits = {};
  std::shared_ptr<HeldCommand> held = {};  ///< while it may not run yet; the scheduler sets it
  /// Told how it ended, before the command is: a read takes its bytes out of staging here. With
  /// a failure on the strand, with success on the executor, because it may copy much.
  std::function<void(const Error* failure)> on_result = {};
  bool quick_result = false;  ///< it takes a microsecond at most: the strand itself calls it
  ExpectedWrites writes = {};

  /// Lets go of everything it shares.
  void clear() noexcept;
};

/// Calls `visit(buffer, writes, overwrites)` for each buffer a work touches, readers first.
template <class Visit> void for_each_use(const CommandWork& work, Visit&& visit) {
  if (work.replay) {
    for (const ReplayPlan::Use& use : work.replay->plan->uses)
      if (BufferState* const buffer = work.replay->buffer(use.buffer))
        visit(*buffer, use.writes, use.overwrites);
    return;
  }
  for (const Operand& operand : work.step.inputs)
    if (BufferState* buffer = operand.buffer()) visit(*buffer, false, false);
  for (const Operand& operand : work.step.outputs)
    if (BufferState* buffer = operand.buffer())
      visit(*buffer, true, operand.offset == 0 && operand.bytes == buffer->spec.bytes());
}

}  // namespace stoker
