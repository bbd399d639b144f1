#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker::detail {

Error wait_cancelled() {
  return Error{"async_wait", ErrorCode::cancelled, "the wait was cancelled"};
}

boost::asio::execution_context::id AsioWaits::id;

void AsioWaits::add(AsioWait& wait) noexcept {
  const std::lock_guard lock{mutex_};
  wait.previous_ = nullptr;
  wait.following_ = first_;
  if (first_) first_->previous_ = &wait;
  first_ = &wait;
}

void AsioWaits::unlink(AsioWait& wait) noexcept {
  (wait.previous_ ? wait.previous_->following_ : first_) = wait.following_;
  if (wait.following_) wait.following_->previous_ = wait.previous_;
}

// A wait that is being woken just now still needs the context; it takes itself off the list when it
// has posted. All others are destroyed here. A handler's destructor may do anything, even begin or
// end other waits, so it runs without the lock, and the walk starts anew after each.
void AsioWaits::shutdown() noexcept {
  std::unique_lock lock{mutex_};
  while (first_ != nullptr || posting_ > 0) {
    AsioWait* wait = first_;
    while (wait != nullptr && !wait->detach()) wait = wait->following_;
    if (wait == nullptr) {
      changed_.wait(lock);
      continue;
    }
    unlink(*wait);
    lock.unlock();
    wait->destroy();
    lock.lock();
  }
}

}  // namespace stoker::detail
