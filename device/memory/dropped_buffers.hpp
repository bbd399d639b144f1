// Buffers that nobody can reach any more but the commands that were sent before: a turn of the device releases
// them, so that dropping one sends no message.
//
// Threads: add() and any() from any; take() on the device's strand.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "stoker/device/memory/buffer_state.hpp"

namespace stoker {

class DroppedBuffers {
 public:
  void add(std::shared_ptr<BufferState> buffer);
  [[nodiscard]] bool any();
  /// Calls `release` for each if `all_delivered()` then says that whoever was sent before is here; else they
  /// stay for a later turn.
  void take(const std::function<bool()>& all_delivered,
            const std::function<void(BufferState&)>& release);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<BufferState>> dropped_;
  std::vector<std::shared_ptr<BufferState>> taken_;  // strand only
};

}  // namespace stoker
