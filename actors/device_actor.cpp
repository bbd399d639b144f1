#include "stoker/actors/device_actor.hpp"

#include "stoker/actors/device_client.hpp"

namespace stoker {

void DeviceActor::on(SubmitCommands message) {
  for (CommandPtr& command : message.commands) shell_->submit(std::move(command));
}

std::array<QueuePoint, queue_kinds> DeviceActor::on(const CloseDevice& message) {
  shell_->close(message.why);
  return shell_->submitted();
}

BufferCell::BufferCell(std::shared_ptr<Strand> strand, std::shared_ptr<DeviceClient> device,
                       std::shared_ptr<BufferState> state)
    : ActorCell{std::move(strand), "buffer " + std::to_string(state->id)},
      buffer_{std::move(device), std::move(state)} {
  adopt(buffer_);
}

void BufferActor::on(ReleaseBuffer) { device_->shell().release(state_); }

BufferDescription BufferActor::on(DescribeBuffer) const {
  BufferDescription description{
      state_->id, state_->spec, state_->released.load(std::memory_order_acquire), {}};
  if (!state_->poison.empty()) description.undefined_because = state_->poison.front().cause;
  return description;
}

}  // namespace stoker
