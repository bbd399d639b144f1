// Commands that a device has accepted and may not run yet. They wait for points of host timelines, or for earlier
// commands that wait for such points and use the same buffers.
//
//     hold() ─▶ held ──(its points reached, nobody held before it)──▶ release() ─▶ the queue
//                 └──(cancelled)──▶ a link: those behind still wait for those before
//
// A waiting command is found through what it waits for, so a thousand of them cost other commands nothing: a timeline
// knows its waiters, a held command knows those behind it, a buffer knows the held commands that used it last.
//
// Threads: ReachedPoints::add() from any thread; everything else on the device's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/commands/command_state.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker {

struct HeldCommand {
  CommandPtr command;        ///< null once cancelled
  std::uint32_t points = 0;  ///< points of timelines that are not known to be reached
  std::uint32_t before = 0;  ///< held commands that it must not overtake
  std::vector<std::shared_ptr<HeldCommand>> behind;  ///< those that must not overtake it
  bool released = false;
  std::list<std::shared_ptr<HeldCommand>>::iterator place;

  // Of ReachedPoints, under its lock.
  std::uint32_t told = 0;             ///< points reached since take()
  bool failed = false;                ///< one of them will never be reached
  std::shared_ptr<HeldCommand> next;  ///< the one added before it
};

/// The held commands that use a buffer: a later writer must not overtake any of them, a later reader
/// only the writer. Released commands stay listed until others replace them.
struct HeldUses {
  std::shared_ptr<HeldCommand> writer;
  std::vector<std::shared_ptr<HeldCommand>> readers;  ///< after the writer
  void add_reader(const std::shared_ptr<HeldCommand>& reader);
};

/// Points that were reached since the device last looked. It is notified for the first of them.
class ReachedPoints {
 public:
  explicit ReachedPoints(std::function<void()> notify) : notify_{std::move(notify)} {}
  ~ReachedPoints();
  ReachedPoints(const ReachedPoints&) = delete;
  ReachedPoints& operator=(const ReachedPoints&) = delete;

  void add(std::shared_ptr<HeldCommand> command, bool failed) noexcept;
  /// Appends the commands whose points were reached to `to`, in the order in which that happened.
  void take(std::vector<std::shared_ptr<HeldCommand>>& to);

 private:
  const std::function<void()> notify_;
  std::mutex mutex_;
  std::shared_ptr<HeldCommand> last_;
};

class HeldCommands {
 public:
  /// `notify` as SchedulerHooks. Before the first hold().
  void set_notify(std::function<void()> notify);
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// The number of commands, without the cancelled ones.
  [[nodiscard]] std::size_t size() const noexcept { return commands_; }

  /// Returns false, and changes nothing, if the command has nothing to wait for. Throws std::bad_alloc; the command
  /// is then not held.
  [[nodiscard]] bool hold(const CommandPtr& command);
  /// Appends the commands that no longer wait to `ready`, in an order that their buffers allow.
  void release_reached(Ring<CommandPtr>& ready);
  /// Removes a cancelled command. Appends the commands that waited only for it to `ready`.
  void remove(CommandState& command, Ring<CommandPtr>& ready);
  /// Removes and returns all commands, in the order in which they came.
  [[nodiscard]] std::vector<CommandPtr> take_all();

 private:
  void release(std::shared_ptr<HeldCommand> first, Ring<CommandPtr>& ready);

  std::shared_ptr<ReachedPoints> reached_ = std::make_shared<ReachedPoints>([] {});
  std::list<std::shared_ptr<HeldCommand>> all_;
  std::vector<std::shared_ptr<HeldCommand>> told_;
  std::size_t commands_ = 0;
};

}  // namespace stoker
