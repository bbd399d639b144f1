// When commands get memory, and when buffers that were dropped leave theirs to others.
//
// Late buffers get theirs when the first command that uses them goes to the backend: what is free, else what
// a dropped buffer will leave that only work in flight still uses (hazards order the two), else new. A
// kernel's scratch memory comes then, too. So however far a program runs ahead, memory follows what is
// alive and in flight.
//
// Threads: the device's strand alone.
#pragma once

#include <memory>
#include <vector>

#include "stoker/device/command_work.hpp"
#include "stoker/device/memory_pool.hpp"

namespace stoker {

class DeferredMemory {
 public:
  /// Before the first provide().
  void set_pool(std::shared_ptr<MemoryPool> pool) noexcept { pool_ = std::move(pool); }
  /// Lets go of what was left.
  void clear() noexcept { left_.clear(); }

  /// Finds memory for the late buffers of a work, and scratch memory for its kernel, which scratch() then
  /// has. out_of_memory if there is none by now.
  [[nodiscard]] Result<void> provide(const CommandWork& work);
  [[nodiscard]] std::vector<std::shared_ptr<MemoryLease>>& scratch() noexcept { return scratch_; }

  /// The work queues no more: late buffers that were dropped may leave their memory to others.
  void mark_handed_over(CommandWork& work);
  /// Drops the buffer's memory once the commands submitted before have ended.
  void release(BufferState& buffer);
  /// The buffer's memory for somebody who uses it beside the device, to be kept beyond a release; nobody else
  /// gets it meanwhile. Null if it was released or there is none to be had.
  [[nodiscard]] std::shared_ptr<MemoryLease> share(BufferState& buffer);
  /// Gives back what was left and nobody uses any more.
  void sweep();

 private:
  [[nodiscard]] Result<void> provide(BufferState& buffer);
  void leave(BufferState& buffer);

  std::shared_ptr<MemoryPool> pool_;
  /// Of dropped buffers that work in flight still uses; oldest first.
  std::vector<std::shared_ptr<MemoryLease>> left_;
  std::vector<std::shared_ptr<MemoryLease>> scratch_;  // of the work that is about to be added
};

}  // namespace stoker
