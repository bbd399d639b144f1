#include "stoker/device/command_pool.hpp"

namespace stoker {

CommandPtr CommandPool::make(std::uint64_t id, std::string_view kernel) {
  std::unique_ptr<Memory> memory;
  // In a forked child a thread of the parent may have been inside for ever.
  if (!fork_.forked())
    if (auto idle = idle_.try_pop()) memory = std::move(*idle);
  if (!memory) memory = std::make_unique<Memory>();
  auto* state = std::construct_at(reinterpret_cast<CommandState*>(memory->bytes), id, kernel,
                                  shared_from_this());
  static_cast<void>(memory.release());  // CommandState::destroy() brings it back
  return CommandPtr{state};
}

void CommandPool::give_back(std::unique_ptr<Memory> memory) noexcept {
  if (fork_.forked()) return;                            // as in make()
  static_cast<void>(idle_.try_push(std::move(memory)));  // beyond the limit it ends here
}

void CommandState::destroy() const noexcept {
  const std::shared_ptr<CommandPool> pool = pool_;
  auto* self = const_cast<CommandState*>(this);
  std::destroy_at(self);
  pool->give_back(
      std::unique_ptr<CommandPool::Memory>{reinterpret_cast<CommandPool::Memory*>(self)});
}

}  // namespace stoker
