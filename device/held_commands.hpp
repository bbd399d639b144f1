// Commands that queue on a device and may not run yet: they wait for points of host timelines, or for
// commands before them that do and use the same buffers.
//
//     hold() ─▶ held ──(its points reached, nobody held before it)──▶ release() ─▶ the queue
//                 └──(cancelled)──▶ a link: those behind still wait for those before
//
// Who waits is found by what it waits for, so that a thousand of them cost others nothing: a timeline
// knows its waiters, a held command those behind it, a buffer the held commands that use it last.
//
// Threads: ReachedPoints::add() from any; everything else on the device's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/command_state.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker {

struct HeldCommand {
  CommandPtr command;        ///< null once cancelled
  std::uint32_t points = 0;  ///< of timelines: not reached, or not known to be
  std::uint32_t before = 0;  ///< held commands that it must not overtake
  std::vector<std::shared_ptr<HeldCommand>> behind;  ///< those that must not overtake it
  bool released = false;
  std::list<std::shared_ptr<HeldCommand>>::iterator place;

  // Of ReachedPoints, under its lock.
  std::uint32_t told = 0;             ///< points reached since the last look
  bool failed = false;                ///< one of them never will be
  std::shared_ptr<HeldCommand> next;  ///< told before it
};

/// The held commands that use a buffer: a later writer must not overtake any of them, a later reader
/// only the writer. Those that were released are still listed until others take their place.
struct HeldUses {
  std::shared_ptr<HeldCommand> writer;
  std::vector<std::shared_ptr<HeldCommand>> readers;  ///< after the writer
  void add_reader(const std::shared_ptr<HeldCommand>& reader);
};

/// Points that were reached since the device last looked. It is poked for the first of them.
class ReachedPoints {
 public:
  explicit ReachedPoints(std::function<void()> poke) : poke_{std::move(poke)} {}
  ~ReachedPoints();
  ReachedPoints(const ReachedPoints&) = delete;
  ReachedPoints& operator=(const ReachedPoints&) = delete;

  void add(std::shared_ptr<HeldCommand> command, bool failed) noexcept;
  /// Moves those who were told something to the end of `to`, the first first.
  void take(std::vector<std::shared_ptr<HeldCommand>>& to);

 private:
  const std::function<void()> poke_;
  std::mutex mutex_;
  std::shared_ptr<HeldCommand> last_;
};

class HeldCommands {
 public:
  /// `poke` as SchedulerHooks. Before the first hold().
  void set_poke(std::function<void()> poke);
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Commands, without those that were cancelled.
  [[nodiscard]] std::size_t size() const noexcept { return commands_; }

  /// False, and nothing has changed, if the command has nothing to wait for. Throws std::bad_alloc; then
  /// nobody waits for the command.
  [[nodiscard]] bool hold(const CommandPtr& command);
  /// Appends those that wait no more to `ready`, in an order that their buffers allow.
  void release_reached(Ring<CommandPtr>& ready);
  /// The held command is cancelled. Appends those that waited for it alone to `ready`.
  void remove(CommandState& command, Ring<CommandPtr>& ready);
  /// Everybody, in the order in which they came.
  [[nodiscard]] std::vector<CommandPtr> take_all();

 private:
  void release(std::shared_ptr<HeldCommand> first, Ring<CommandPtr>& ready);

  std::shared_ptr<ReachedPoints> reached_ = std::make_shared<ReachedPoints>([] {});
  std::list<std::shared_ptr<HeldCommand>> all_;
  std::vector<std::shared_ptr<HeldCommand>> told_;
  std::size_t commands_ = 0;
};

}  // namespace stoker
