// Memory for CommandStates, so that a command costs no heap allocation once the pool is warm.
//
// Threads: any. Lifetime: commands keep the pool; it keeps at most `max_idle` pieces of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "stoker/device/commands/command_state.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

class CommandPool final : public std::enable_shared_from_this<CommandPool> {
 public:
  static constexpr std::size_t max_idle = 1024;

  /// Brings what a thread asks of a command to its device. Any thread.
  using Cancel = std::function<void(const CommandPtr& command, Error why)>;

  /// `backend` lets a plain thread that waits for a command do or watch the work itself; deadlines are
  /// read on `clock`.
  explicit CommandPool(std::weak_ptr<Backend> backend, std::shared_ptr<Clock> clock = {})
      : backend_{std::move(backend)}, clock_{std::move(clock)} {}
  /// Before the first make().
  void set_cancel(Cancel cancel) { cancel_ = std::move(cancel); }

  [[nodiscard]] CommandPtr make(std::uint64_t id, std::string_view kernel);
  /// Null once the device is gone.
  [[nodiscard]] std::shared_ptr<Backend> backend() const noexcept { return backend_.lock(); }

 private:
  friend class CommandState;
  struct alignas(CommandState) Memory {
    std::byte bytes[sizeof(CommandState)];
  };
  void give_back(std::unique_ptr<Memory> memory) noexcept;
  [[nodiscard]] Clock::time_point now() const noexcept {
    return clock_ ? clock_->now() : Clock::time_point{};
  }
  void cancel(CommandState& command, Error why) const {
    if (cancel_) cancel_(CommandPtr{&command}, std::move(why));
  }

  const std::weak_ptr<Backend> backend_;
  const std::shared_ptr<Clock> clock_;
  Cancel cancel_;
  const ForkGuard fork_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Memory>> idle_;
};

}  // namespace stoker
