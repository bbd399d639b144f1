// When commands get memory, and when dropped buffers pass theirs on.
//
// A late buffer gets its memory when the first command that uses it is submitted: free memory first, else that of a
// dropped buffer which only work in flight still uses (hazards order the two), else new memory. A kernel gets its
// scratch memory at the same time. So the memory in use follows what is alive and in flight, however far a program
// runs ahead.
//
// Threads: the device's strand only.
#pragma once

#include <memory>
#include <vector>

#include "stoker/device/commands/command_work.hpp"
#include "stoker/device/memory/memory_pool.hpp"

namespace stoker {

class DeferredMemory {
 public:
  /// Before the first provide().
  void set_pool(std::shared_ptr<MemoryPool> pool) noexcept { pool_ = std::move(pool); }
  /// Drops the memory that waits for work in flight.
  void clear() noexcept { left_.clear(); }

  /// Provides memory for the late buffers of a work, and scratch memory for its kernel, which scratch() then returns.
  /// out_of_memory if there is none now.
  [[nodiscard]] Result<void> provide(const CommandWork& work);
  [[nodiscard]] std::vector<std::shared_ptr<MemoryLease>>& scratch() noexcept { return scratch_; }

  /// The work was submitted: dropped late buffers may pass their memory on.
  void mark_handed_over(CommandWork& work);
  /// Drops the buffer's memory once the commands submitted before have ended.
  void release(BufferState& buffer);
  /// The buffer's memory, shared with the host: it outlives a release, and nothing else gets it meanwhile. Null if the
  /// buffer was released or there is no memory.
  [[nodiscard]] std::shared_ptr<MemoryLease> share(BufferState& buffer);
  /// Frees the memory of dropped buffers that no work uses any more.
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
