// Buffers of a device: made, written, read, copied, held.
#include <algorithm>
#include <cstring>

#include "stoker/actors/device/device_actor.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/device/read_target.hpp"
#include "stoker/device/memory/adopted_memory.hpp"
#include "stoker/device/memory/host_memory.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"

namespace stoker {
namespace {

/// Up to here new buffers are written through mapped memory of a GPU; beyond, staging is faster.
constexpr std::uint64_t small_write = std::uint64_t{256} * 1024;
/// Up to this the strand itself copies what was read.
constexpr std::uint64_t small_read = std::uint64_t{16} * 1024;

Operand part(const DeviceBuffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
  return {buffer.state(), offset, bytes};
}

DeviceBuffer handle(const std::shared_ptr<DeviceClient>& device,
                    std::shared_ptr<BufferState> state) {
  return DeviceBuffer{
      std::make_shared<BufferCell>(device->actor().strand(), device, std::move(state))};
}

}  // namespace

Result<DeviceBuffer> DeviceClient::make_buffer(const TensorSpec& spec) {
  STOKER_TRY(admit(0, "buffer"));
  STOKER_ASSIGN(auto state, scheduler_->make_buffer(spec, "buffer"));
  return handle(shared_from_this(), std::move(state));
}

Result<DeviceBuffer> DeviceClient::make_result(const TensorSpec& spec) {
  if (spec.bytes() < MemoryPool::large_bytes) return make_buffer(spec);
  STOKER_TRY(admit(0, "buffer"));
  STOKER_ASSIGN(auto state, scheduler_->make_late_buffer(spec, "buffer"));
  return handle(shared_from_this(), std::move(state));
}

Result<DeviceBuffer> DeviceClient::make_buffer(const TensorSpec& spec,
                                               std::span<const std::byte> data) {
  if (data.size() != spec.bytes())
    return Error{"buffer",
                 ErrorCode::invalid_argument,
                 "the data does not fill the shape",
                 {{"expected_bytes", std::to_string(spec.bytes())},
                  {"got_bytes", std::to_string(data.size())},
                  {"spec", spec.to_string()}}};
  STOKER_ASSIGN(DeviceBuffer buffer, make_buffer(spec));
  // Nobody else knows the buffer yet, so mapped memory is written in place.
  const MemoryView view = buffer.state()->memory->view();
  const bool in_place = view.block->host && (info().host_addressable || data.size() <= small_write);
  if (data.empty()) return buffer;
  if (in_place) {
    std::memcpy(view.host(), data.data(), data.size());
    return buffer;
  }
  STOKER_ASSIGN(const CommandPtr command, write(buffer, 0, data));
  command->observe();  // a failure reaches whoever uses the buffer
  return buffer;
}

Result<DeviceBuffer> DeviceClient::adopt_buffer(const TensorSpec& spec, std::span<std::byte> memory,
                                                std::shared_ptr<const void> owner) {
  STOKER_TRY(admit(0, "adopt"));
  if (!info().host_addressable)
    return Error{"adopt",
                 ErrorCode::unsupported,
                 "the device cannot address memory of the host",
                 {{"device", info().name}}};
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % host_alignment == 0;
  if (memory.size() != spec.bytes() || !aligned)
    return Error{"adopt",
                 ErrorCode::invalid_argument,
                 "the memory has another size, or does not begin where kernels can read it",
                 {{"expected_bytes", std::to_string(spec.bytes())},
                  {"got_bytes", std::to_string(memory.size())},
                  {"alignment", std::to_string(host_alignment)}}};
  return handle(shared_from_this(),
                scheduler_->make_buffer(spec, adopt_memory(memory, std::move(owner))));
}

Result<CommandPtr> DeviceClient::write(const DeviceBuffer& buffer, std::uint64_t offset,
                                       std::span<const std::byte> data,
                                       const CommandOptions& options) {
  STOKER_TRY(check_range(buffer, offset, data.size(), "write"));
  STOKER_ASSIGN(auto staging, scheduler_->pool().lease(data.size(), MemoryKind::upload, "write"));
  if (!data.empty()) std::memcpy(staging->view().host(), data.data(), data.size());
  CommandPtr command = new_command("write");
  CommandWork& work = command->work;
  work.queue = QueueKind::transfer;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back({std::move(staging), 0, data.size()});
  work.step.outputs.push_back(part(buffer, offset, data.size()));
  return send(std::move(command), options);
}

Result<CommandPtr> DeviceClient::read_into(const DeviceBuffer& buffer, std::uint64_t offset,
                                           std::span<std::byte> target,
                                           std::function<void(const Error*)> done,
                                           const CommandOptions& options) {
  STOKER_TRY(check_range(buffer, offset, target.size(), "read"));
  CommandPtr command = new_command("read");
  if (copy_settled(*actor_behind(buffer).state(), offset, target, options)) {
    DeferredWakes::flush();  // it, and its end, may be a user's
    if (done) done(nullptr);
    done = nullptr;
    command->finish({});
    return command;
  }
  CommandWork& work = command->work;
  work.queue = QueueKind::transfer;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back(part(buffer, offset, target.size()));
  Operand output;
  output.bytes = target.size();
  if (info().host_addressable) {
    output.memory = std::make_shared<HostBlock>(target.data(), target.size());
    work.on_result = std::move(done);
    work.quick_result = true;  // the bytes are where they belong
  } else {
    STOKER_ASSIGN(const std::shared_ptr<MemoryLease> staging,
                  scheduler_->pool().lease(target.size(), MemoryKind::readback, "read"));
    output.memory = staging;
    work.on_result = [target, staging, done = std::move(done)](const Error* failure) {
      if (!failure && !target.empty())
        std::memcpy(target.data(), staging->view().host(), target.size());
      done(failure);
    };
    work.quick_result = target.size() <= small_read;
  }
  work.step.outputs.push_back(std::move(output));
  return send(std::move(command), options);
}

bool DeviceClient::is_written(const DeviceBuffer& buffer, const CommandOptions& options) const {
  return check_buffer(buffer, "read") &&
         copy_settled(*actor_behind(buffer).state(), 0, {}, options);
}

bool DeviceClient::copy_settled(BufferState& buffer, std::uint64_t offset,
                                std::span<std::byte> target, const CommandOptions& options) const {
  const bool fits =
      target.empty() || (info().host_addressable && target.size() <= CommandScheduler::small_copy);
  if (!fits || options.deadline || options.cancel.cancelled() || !options.waits.empty())
    return false;
  BufferState* const read = &buffer;
  auto reading = scheduler_->read_settled({&read, 1});
  if (!reading) return false;
  if (!target.empty())
    std::memcpy(target.data(), buffer.memory->view().host() + offset, target.size());
  scheduler_->count_done(reading, false);
  return true;
}

Result<Future<std::vector<std::byte>>> DeviceClient::read(const DeviceBuffer& buffer,
                                                          std::uint64_t offset, std::uint64_t bytes,
                                                          const CommandOptions& options) {
  STOKER_TRY(check_range(buffer, offset, bytes, "read"));
  auto target = std::make_shared<ReadTarget<std::byte>>(bytes);
  STOKER_ASSIGN(const CommandPtr command,
                read_into(buffer, offset, target->bytes(), target->completion(target), options));
  return target->result_of(command);
}

Result<CommandPtr> DeviceClient::copy(const DeviceBuffer& from, std::uint64_t from_offset,
                                      const DeviceBuffer& to, std::uint64_t to_offset,
                                      std::uint64_t bytes, const CommandOptions& options) {
  if (!from || !to)
    return Error{"copy", ErrorCode::invalid_argument, "an empty buffer handle was passed"};
  STOKER_TRY(from.device()->check_range(from, from_offset, bytes, "copy"));
  STOKER_TRY(to.device()->check_range(to, to_offset, bytes, "copy"));
  if (from.device() != to.device())
    return copy_between(from, from_offset, to, to_offset, bytes, options);
  if (from.device().get() != this)
    return from.device()->copy(from, from_offset, to, to_offset, bytes, options);
  const bool same = from.state() == to.state();
  if (same && bytes > 0 && from_offset < to_offset + bytes && to_offset < from_offset + bytes)
    return Error{"copy",
                 ErrorCode::invalid_argument,
                 "the ranges overlap",
                 {{"from", std::to_string(from_offset)},
                  {"to", std::to_string(to_offset)},
                  {"bytes", std::to_string(bytes)}}};
  CommandPtr command = new_command("copy");
  CommandWork& work = command->work;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back(part(from, from_offset, bytes));
  work.step.outputs.push_back(part(to, to_offset, bytes));
  return send(std::move(command), options);
}

Result<CommandPtr> DeviceClient::copy_between(const DeviceBuffer& from, std::uint64_t from_offset,
                                              const DeviceBuffer& to, std::uint64_t to_offset,
                                              std::uint64_t bytes, const CommandOptions& options) {
  // The target's command waits for a point of a host timeline that the read reaches, so whoever
  // uses the target afterwards is ordered behind the copy from this moment on.
  DeviceClient& source = *from.device();
  DeviceClient& target = *to.device();
  STOKER_ASSIGN(std::shared_ptr<MemoryLease> staging,
                target.scheduler_->pool().lease(bytes, MemoryKind::upload, "copy"));
  STOKER_ASSIGN(auto read, source.read(from, from_offset, bytes, options));
  auto arrived = std::make_shared<Timeline>();
  CommandPtr command = target.new_command("copy");
  CommandWork& work = command->work;
  work.queue = QueueKind::transfer;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back({staging, 0, bytes});
  work.step.outputs.push_back(part(to, to_offset, bytes));
  CommandOptions target_options = options;
  target_options.waits = {TimelinePoint{arrived, 1}};
  // Before the command is sent: one that waits for a point which nobody reaches would never end.
  static_cast<void>(
      read.then(*context_.executor, [staging, arrived](const Result<std::vector<std::byte>>& data) {
        if (!data) {
          arrived->fail(data.error());
          return;
        }
        if (!data->empty()) std::memcpy(staging->view().host(), data->data(), data->size());
        arrived->advance(1);
      }));
  return target.send(std::move(command), target_options);
}

Result<void> DeviceClient::hold(const DeviceBuffer& buffer, const TimelinePoint& open) {
  STOKER_TRY(check_buffer(buffer, "hold"));
  if (buffer.state()->late)
    return Error{"hold", ErrorCode::invalid_argument, "the buffer has no memory of its own yet"};
  // A write of nothing: it takes its place among the hazards and leaves the bytes alone.
  CommandPtr command = new_command("hold");
  CommandWork& work = command->work;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back({buffer.state()->memory, 0, 0});
  work.step.outputs.push_back(part(buffer, 0, 0));
  CommandOptions options;
  options.waits = {open};
  STOKER_ASSIGN(const CommandPtr sent, send(std::move(command), options));
  sent->observe();  // who uses the buffer hears of a failure
  return {};
}

Result<CommandPtr> DeviceClient::write_held(const DeviceBuffer& from, const DeviceBuffer& held,
                                            std::uint64_t offset) {
  const std::uint64_t bytes = from ? from.spec().bytes() : 0;
  STOKER_TRY(check_buffer(from, "copy"));
  STOKER_TRY(check_range(held, offset, bytes, "copy"));
  CommandPtr command = new_command("copy");
  CommandWork& work = command->work;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back(part(from, 0, bytes));
  work.step.outputs.push_back({held.state()->memory, offset, bytes});
  return send(std::move(command), {});
}

Result<CommandPtr> DeviceClient::fill(const DeviceBuffer& buffer,
                                      std::span<const std::byte> pattern,
                                      const CommandOptions& options) {
  STOKER_TRY(check_buffer(buffer, "fill"));
  const std::size_t size = pattern.size();
  if ((size != 1 && size != 2 && size != 4 && size != 8) || buffer.spec().bytes() % size != 0)
    return Error{"fill",
                 ErrorCode::invalid_argument,
                 "the pattern must be 1, 2, 4 or 8 bytes and divide the buffer",
                 {{"pattern_bytes", std::to_string(size)},
                  {"buffer_bytes", std::to_string(buffer.spec().bytes())}}};
  CommandPtr command = new_command("fill");
  CommandWork& work = command->work;
  work.step.kind = StepKind::fill;
  std::ranges::copy(pattern, work.step.pattern.begin());
  work.step.pattern_bytes = static_cast<std::uint8_t>(size);
  work.step.outputs.push_back(part(buffer, 0, buffer.spec().bytes()));
  return send(std::move(command), options);
}

void DeviceClient::release(const DeviceBuffer& buffer) {
  if (!buffer || buffer.state()->released.exchange(true, std::memory_order_seq_cst)) return;
  try {
    cast_surely(buffer.actor(), ReleaseBuffer{}, Run::here);
  } catch (...) {
    buffer.state()->released.store(false, std::memory_order_release);
    throw;
  }
}

}  // namespace stoker
