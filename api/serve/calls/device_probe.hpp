// Whether a device computes, told by a small dispatch: it fills a number, and reads it.
//
// A dispatch is started only when somebody asks, at most once a second. Whoever asks within five seconds of one that
// has succeeded is answered at once; otherwise as soon as one has ended, and at the latest after `patience`. By then
// the device is taken to compute if it was seen to complete other commands in the last five seconds: under load a
// dispatch waits its turn.
//
// Threads: any; nothing blocks. Lifetime: a dispatch keeps its probe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "stoker/api/device.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker::serve {

class DeviceProbe : public std::enable_shared_from_this<DeviceProbe> {
 public:
  static constexpr Clock::duration interval = std::chrono::seconds{1};
  static constexpr Clock::duration validity = std::chrono::seconds{5};
  static constexpr Clock::duration patience = std::chrono::milliseconds{40};

  /// The executor outlives it.
  DeviceProbe(Device device, Executor& executor)
      : device_{std::move(device)}, executor_{&executor} {}

  [[nodiscard]] Future<bool> computes();
  /// It has computed something else just now, which counts as a dispatch that has succeeded.
  void has_computed();

 private:
  using Waiting = std::vector<Promise<bool>>;

  [[nodiscard]] Clock::time_point now() const { return executor_->clock().now(); }
  [[nodiscard]] std::uint64_t completed() const {
    return device_.stats().commands.commands_completed;
  }
  void start();
  void ended(const std::shared_ptr<DeviceClient>& client, bool well);
  void lose_patience();

  const Device device_;
  Executor* const executor_;
  std::mutex mutex_;  // of what follows
  /// The device as the last dispatch that succeeded found it: one that was opened again has computed nothing yet.
  std::weak_ptr<DeviceClient> seen_;
  Clock::time_point succeeded_ = {};
  Clock::time_point started_ = {};
  std::uint64_t completed_before_ = 0;   ///< by the device, at the last look
  Clock::time_point others_ended_ = {};  ///< the last look that saw more of them
  bool runs_ = false;
  Waiting waiting_;
  Timer timer_;
};

}  // namespace stoker::serve
