#include "stoker/device/commands/deferred_memory.hpp"

#include <algorithm>
#include <utility>

namespace stoker {
namespace {

/// Smaller pieces are rather had anew than behind somebody else's work.
constexpr std::uint64_t worth_waiting_for = std::uint64_t{1} << 20;

}  // namespace

Result<void> DeferredMemory::provide(const CommandWork& work) {
  Result<void> provided;
  for_each_use(work, [&](BufferState& buffer, bool, bool) {
    if (provided && !buffer.memory) provided = provide(buffer);
  });
  const Executable* const kernel = work.replay ? nullptr : work.step.executable.get();
  scratch_.clear();
  if (!provided || !kernel || !work.step.scratch.empty()) return provided;
  for (const std::size_t bytes : kernel->scratch_bytes) {
    auto lease = pool_->lease(bytes, MemoryKind::device, kernel->kernel);
    if (!lease) {
      scratch_.clear();
      return lease.error();
    }
    scratch_.push_back(*std::move(lease));
  }
  return {};
}

Result<void> DeferredMemory::provide(BufferState& buffer) {
  const std::uint64_t bytes = buffer.spec.bytes();
  if ((buffer.memory = pool_->lease_free(bytes, MemoryKind::device))) return {};
  const auto take_left = [&](std::uint64_t most) {
    const auto fits = [&](const std::shared_ptr<MemoryLease>& left) {
      return left->capacity() >= bytes && left->capacity() <= most &&
             !left->hazards().is_read_on_host();
    };
    const auto found = std::ranges::find_if(left_, fits);
    if (found == left_.end()) return false;
    buffer.memory = std::move(*found);
    left_.erase(found);
    return true;
  };
  if (bytes >= worth_waiting_for && take_left(bytes + bytes / 2)) return {};
  auto fresh = pool_->lease(bytes, MemoryKind::device, "buffer");
  if (!fresh && take_left(~std::uint64_t{0})) return {};
  if (!fresh) return fresh.error();
  buffer.memory = *std::move(fresh);
  return {};
}

void DeferredMemory::mark_handed_over(CommandWork& work) {
  work.handed_over = true;
  for_each_use(work, [&](BufferState& buffer, bool, bool) {
    if (--buffer.waiting == 0 && buffer.dropped) leave(buffer);
  });
}

void DeferredMemory::leave(BufferState& buffer) {
  // What is in flight ends by itself. What still queues may wait for the outside, and nobody may be
  // made to wait for that who does not use the buffer.
  if (buffer.late && !buffer.shared && buffer.memory) left_.push_back(buffer.memory);
}

void DeferredMemory::release(BufferState& buffer) {
  if (std::exchange(buffer.dropped, true)) return;
  if (buffer.users == 0)
    buffer.memory.reset();
  else if (buffer.waiting == 0)
    leave(buffer);
}

std::shared_ptr<MemoryLease> DeferredMemory::share(BufferState& buffer) {
  if (buffer.dropped || (!buffer.memory && !provide(buffer))) return nullptr;
  buffer.shared = true;
  return buffer.memory;
}

void DeferredMemory::sweep() {
  std::erase_if(left_, [](const auto& lease) { return lease.use_count() == 1; });
}

}  // namespace stoker
