#include "stoker/device/queued_command.hpp"

#include <thread>

namespace stoker {

HostWait::~HostWait() {
  if (!poke_ || point_.timeline->remove(*this)) return;
  // It was told, or is being told this moment by another thread.
  while (!done()) std::this_thread::yield();
}

void HostWait::arm(std::function<void()> poke) {
  poke_ = std::move(poke);
  value = point_.value;
  point_.timeline->add(*this);
}

void HostWait::reached(const Error* failure) noexcept {
  if (failure) failure_ = *failure;
  // Once done, the strand may destroy this object at any moment.
  const std::function<void()> poke = poke_;
  done_.store(true, std::memory_order_release);
  poke();
}

}  // namespace stoker
