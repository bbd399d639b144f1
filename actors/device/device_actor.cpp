#include "stoker/actors/device/device_actor.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/device/live_buffers.hpp"
#include "stoker/actors/timed_send.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {

void fail_unsent(CommandState& command, const Error& why) {
  const auto on_result = std::move(command.work.on_result);
  command.work.clear();
  if (on_result) on_result(&why);
  command.finish(why);
}

void DeviceActor::on(const SubmitCommands& message) {
  for (const CommandPtr& command : message.commands) scheduler_->submit(command);
}

void DeviceActor::on(const CancelCommand& message) {
  const QueuePoint point = message.command->point();
  scheduler_->cancel(*message.command, message.why);
  const auto patience = scheduler_->options().hang_patience;
  if (!message.overdue || point.value == 0 || patience == std::chrono::nanoseconds::max()) return;
  Clock& clock = executor()->clock();
  auto check = [weak = cell()->weak_from_this(),
                hung = CheckHung{point, message.command->kernel()}] {
    if (auto device = weak.lock()) cast_surely(ActorRef<DeviceActor>{std::move(device)}, hung);
  };
  overdue_.push_back(
      {point, Timer{clock, deadline_after(clock.now(), patience), *executor(), std::move(check)}});
  forget_ended();
}

void DeviceActor::on(const CheckHung& message) {
  if (scheduler_->reached(message.point) || scheduler_->is_lost()) return;
  scheduler_->give_up({message.kernel,
                       ErrorCode::device_lost,
                       "the device hangs: a command has not ended long after its deadline",
                       {{"device", scheduler_->info().name}, {"kernel", message.kernel}}});
}

std::array<QueuePoint, queue_kinds> DeviceActor::on(const CloseDevice& message) {
  scheduler_->close(message.why);
  return scheduler_->submitted();
}

void DeviceActor::terminate(const ExitReason& why) {
  // No turn comes after this one: whoever waits for what is in flight would wait for ever.
  const Error reason =
      error_or_out_of_memory([&] { return why.as_error("device", scheduler_->info().name); });
  scheduler_->close(reason);
  scheduler_->abandon(reason);
  const auto client = client_.lock();
  if (!client) return;
  const auto buffers = client->buffers().list();
  for (const auto& buffer : buffers) buffer->finish(why);
  std::string names;
  std::uint64_t bytes = 0;
  constexpr std::size_t named = 16;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    bytes += buffers[i]->buffer().state()->spec.bytes();
    if (i < named) names += (i > 0 ? ", " : "") + buffers[i]->name();
  }
  if (buffers.size() > named) names += ", …";
  if (why.error() && !buffers.empty())
    log_warn("buffers are lost with their device", {{"device", scheduler_->info().name},
                                                    {"count", std::to_string(buffers.size())},
                                                    {"bytes", std::to_string(bytes)},
                                                    {"buffers", names},
                                                    {"reason", why.to_string()}});
}

// --- buffers -------------------------------------------------------------------------------------

BufferCell::BufferCell(std::shared_ptr<Strand> strand, std::shared_ptr<DeviceClient> device,
                       std::shared_ptr<BufferState> state)
    : ActorCell{std::move(strand), "buffer " + std::to_string(state->id)},
      buffer_{std::move(device), std::move(state)} {
  adopt(buffer_);
  buffer_.device()->buffers().add(*this);
}

BufferCell::~BufferCell() {
  // In a child of fork() a thread of the parent may hold the locks on the way.
  if (!strand()->check_process("buffer")) return;
  buffer_.device()->buffers().remove(*this);
  end_unreachable();
  // Work that was sent before may still use the buffer; its memory is not kept for it alone.
  if (!buffer_.state()->late || buffer_.state().use_count() == 1) return;
  DeviceClient& device = *buffer_.device();
  try {
    // A message of its own would wake a thread for each.
    if (device.scheduler().drop(buffer_.state())) return;
    static_cast<void>(device.actor().cast(DropBuffer{buffer_.state()}));
  } catch (const std::bad_alloc&) {  // then it goes when the work has ended
  }
}

void BufferActor::on(ReleaseBuffer) { device_->scheduler().release_for_good(state_); }

std::shared_ptr<MemoryLease> BufferActor::on(ShareMemory) const {
  return device_->scheduler().share(*state_);
}

BufferDescription BufferActor::on(DescribeBuffer) const {
  BufferDescription description{
      state_->id, state_->spec, state_->released.load(std::memory_order_acquire), {}};
  if (!state_->poison.empty()) description.undefined_because = state_->poison.cause();
  return description;
}

}  // namespace stoker
