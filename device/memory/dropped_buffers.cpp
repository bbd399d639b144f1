#include "stoker/device/memory/dropped_buffers.hpp"

#include "stoker/runtime/base/spin_then_lock.hpp"

namespace stoker {

void DroppedBuffers::add(std::shared_ptr<BufferState> buffer) {
  const auto lock = spin_then_lock(mutex_);
  dropped_.push_back(std::move(buffer));
}

bool DroppedBuffers::any() {
  const auto lock = spin_then_lock(mutex_);
  return !dropped_.empty();
}

void DroppedBuffers::take(const std::function<bool()>& all_delivered,
                          const std::function<void(BufferState&)>& release) {
  {
    const auto lock = spin_then_lock(mutex_);
    if (dropped_.empty()) return;
    taken_.swap(dropped_);
  }
  // In this order: what was sent before a buffer was dropped had been sent before that was seen here.
  if (all_delivered()) {
    for (const auto& buffer : taken_) release(*buffer);
  } else {
    const auto lock = spin_then_lock(mutex_);
    dropped_.insert(dropped_.end(), taken_.begin(), taken_.end());
  }
  taken_.clear();
}

}  // namespace stoker
