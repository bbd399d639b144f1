// Where late buffers get their memory, and to whom they leave it.
#include <algorithm>
#include <utility>

#include "stoker/device/shell.hpp"
#include "stoker/runtime/base/spin_then_lock.hpp"

namespace stoker {
namespace {

/// Smaller pieces are rather had anew than behind somebody else's work.
constexpr std::uint64_t worth_waiting_for = std::uint64_t{1} << 20;

}  // namespace

Result<void> DeviceShell::provide(const CommandWork& work) {
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

Result<void> DeviceShell::provide(BufferState& buffer) {
  const std::uint64_t bytes = buffer.spec.bytes();
  if ((buffer.memory = pool_->lease_free(bytes, MemoryKind::device))) return {};
  const auto take_left = [&](std::uint64_t most) {
    const auto fits = [&](const std::shared_ptr<MemoryLease>& left) {
      return left->capacity() >= bytes && left->capacity() <= most;
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

void DeviceShell::mark_handed_over(CommandWork& work) {
  work.handed_over = true;
  for_each_use(work, [&](BufferState& buffer, bool, bool) {
    if (--buffer.waiting == 0 && buffer.dropped) leave_memory(buffer);
  });
}

void DeviceShell::leave_memory(BufferState& buffer) {
  // What is in flight ends by itself. What still queues may wait for the outside, and nobody may be
  // made to wait for that who does not use the buffer.
  if (buffer.late && !buffer.shared && buffer.memory) left_.push_back(buffer.memory);
}

void DeviceShell::sweep_left() {
  std::erase_if(left_, [](const auto& lease) { return lease.use_count() == 1; });
}

void DeviceShell::release(const std::shared_ptr<BufferState>& buffer) {
  if (std::exchange(buffer->dropped, true)) return;
  if (buffer->users == 0)
    buffer->memory.reset();
  else if (buffer->waiting == 0)
    leave_memory(*buffer);
}

bool DeviceShell::drop(std::shared_ptr<BufferState> buffer) {
  {
    const auto lock = spin_then_lock(dropped_mutex_);
    dropped_.push_back(std::move(buffer));
  }
  // Whoever ends what is in flight looks here afterwards.
  return count_in_flight_.load(std::memory_order_relaxed) > 0;
}

bool DeviceShell::has_dropped() {
  const auto lock = spin_then_lock(dropped_mutex_);
  return !dropped_.empty();
}

void DeviceShell::release_dropped(const std::function<bool()>& all_delivered) {
  {
    const auto lock = spin_then_lock(dropped_mutex_);
    if (dropped_.empty()) return;
    releasing_.swap(dropped_);
  }
  // In this order: what was sent before a buffer was dropped had been sent before that was seen here.
  if (all_delivered()) {
    for (const auto& buffer : releasing_) release(buffer);
  } else {
    const auto lock = spin_then_lock(dropped_mutex_);
    dropped_.insert(dropped_.end(), releasing_.begin(), releasing_.end());
  }
  releasing_.clear();
}

std::shared_ptr<MemoryLease> DeviceShell::share(BufferState& buffer) {
  if (buffer.dropped || (!buffer.memory && !provide(buffer))) return nullptr;
  buffer.shared = true;
  return buffer.memory;
}

}  // namespace stoker
