#include "stoker/actors/device_actor.hpp"

namespace stoker {

void DeviceActor::on(SubmitCommands message) {
  for (QueuedCommand& work : message.works) shell_->submit(std::move(work));
}

std::array<QueuePoint, queue_kinds> DeviceActor::on(CloseDevice message) {
  shell_->close(message.why);
  return shell_->submitted();
}

BufferDescription BufferActor::on(DescribeBuffer) const {
  BufferDescription description{
      state_->id, state_->spec, state_->released.load(std::memory_order_acquire), {}};
  if (!state_->poison.empty()) description.undefined_because = state_->poison.front().cause;
  return description;
}

}  // namespace stoker
