#include "stoker/device/commands/command_pool.hpp"

namespace stoker {

CommandPtr CommandPool::make(std::uint64_t id, std::string_view kernel) {
  std::unique_ptr<Memory> memory;
  if (!fork_.forked()) {  // else a thread of the parent may hold the lock for ever
    const std::scoped_lock lock{mutex_};
    // Reserved here, so that giving back never allocates.
    if (idle_.capacity() == 0) idle_.reserve(max_idle);
    if (!idle_.empty()) {
      memory = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!memory) memory = std::make_unique<Memory>();
  auto* state = std::construct_at(reinterpret_cast<CommandState*>(memory->bytes), id, kernel,
                                  shared_from_this());
  static_cast<void>(memory.release());  // CommandState::destroy() brings it back
  return CommandPtr{state};
}

void CommandPool::give_back(std::unique_ptr<Memory> memory) noexcept {
  if (fork_.forked()) return;  // as in make()
  const std::scoped_lock lock{mutex_};
  if (idle_.size() < max_idle) idle_.push_back(std::move(memory));
}

void CommandState::destroy() const noexcept {
  const std::shared_ptr<CommandPool> pool = pool_;
  auto* self = const_cast<CommandState*>(this);
  std::destroy_at(self);
  pool->give_back(
      std::unique_ptr<CommandPool::Memory>{reinterpret_cast<CommandPool::Memory*>(self)});
}

}  // namespace stoker
