// Memory for CommandStates, so that a command costs no heap allocation once the pool is warm.
//
// Threads: any. Lifetime: commands keep the pool; it keeps at most `max_idle` pieces of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "stoker/device/command_state.hpp"
#include "stoker/runtime/fork_guard.hpp"

namespace stoker {

class CommandPool final : public std::enable_shared_from_this<CommandPool> {
 public:
  static constexpr std::size_t max_idle = 1024;

  /// `backend` lets a plain thread that waits for a command do or watch the work itself.
  explicit CommandPool(std::weak_ptr<Backend> backend) : backend_{std::move(backend)} {}

  [[nodiscard]] CommandPtr make(std::uint64_t id, std::string_view kernel);
  /// Null once the device is gone.
  [[nodiscard]] std::shared_ptr<Backend> backend() const noexcept { return backend_.lock(); }

 private:
  friend class CommandState;
  struct alignas(CommandState) Memory {
    std::byte bytes[sizeof(CommandState)];
  };
  void give_back(std::unique_ptr<Memory> memory) noexcept;

  const std::weak_ptr<Backend> backend_;
  const ForkGuard fork_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Memory>> idle_;
};

}  // namespace stoker
