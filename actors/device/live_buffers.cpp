#include "stoker/actors/device/live_buffers.hpp"

#include <utility>

#include "stoker/actors/device/device_actor.hpp"

namespace stoker {

void LiveBuffers::add(BufferCell& buffer) noexcept {
  const std::scoped_lock lock{mutex_};
  buffer.next_ = first_;
  if (first_) first_->previous_ = &buffer;
  first_ = &buffer;
  ++size_;
}

void LiveBuffers::remove(BufferCell& buffer) noexcept {
  const std::scoped_lock lock{mutex_};
  (buffer.previous_ ? buffer.previous_->next_ : first_) = buffer.next_;
  if (buffer.next_) buffer.next_->previous_ = buffer.previous_;
  --size_;
}

std::vector<std::shared_ptr<BufferCell>> LiveBuffers::list() const {
  std::vector<std::shared_ptr<BufferCell>> all;
  const std::scoped_lock lock{mutex_};
  all.reserve(size_);
  for (const BufferCell* one = first_; one; one = one->next_)
    if (auto cell = const_cast<BufferCell*>(one)->weak_from_this().lock())
      all.push_back(std::static_pointer_cast<BufferCell>(std::move(cell)));
  return all;
}

std::size_t LiveBuffers::size() const noexcept {
  const std::scoped_lock lock{mutex_};
  return size_;
}

}  // namespace stoker
