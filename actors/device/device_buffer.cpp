#include "stoker/actors/device/device_buffer.hpp"

#include "stoker/actors/device/device_actor.hpp"

namespace stoker {

const std::shared_ptr<DeviceClient>& DeviceBuffer::device() const noexcept {
  return actor_behind(*this).device();
}

const std::shared_ptr<BufferState>& DeviceBuffer::state() const noexcept {
  return actor_behind(*this).state();
}

const TensorSpec& DeviceBuffer::spec() const noexcept { return state()->spec; }

ActorRef<BufferActor> DeviceBuffer::actor() const { return ActorRef<BufferActor>{cell_}; }

}  // namespace stoker
