#include "stoker/api/buffer.hpp"

#include "stoker/actors/device/device_actor.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/device.hpp"
#include "stoker/kernels/fill/value.hpp"

namespace stoker {

Device Buffer::device() const { return Device{buffer_.device()}; }

boost::intrusive_ptr<FutureCore> Buffer::start_read(std::span<std::byte> target,
                                                    std::function<void(const Error*)> done,
                                                    std::size_t offset,
                                                    const CommandOptions& options) const {
  return buffer_.device()->read_into(buffer_, offset, target, std::move(done), options).value();
}

Command Buffer::read_bytes_into(std::span<std::byte> target, std::shared_ptr<const void> owner,
                                std::size_t offset, const CommandOptions& options) const {
  const auto keep = [owner = std::move(owner)](const Error*) {};
  return {buffer_.device()->read_into(buffer_, offset, target, keep, options).value(),
          buffer_.device()};
}

Future<std::vector<std::byte>> Buffer::read_bytes(const CommandOptions& options) const {
  return read_bytes(0, size(), options);
}

Future<std::vector<std::byte>> Buffer::read_bytes(std::size_t offset, std::size_t bytes,
                                                  const CommandOptions& options) const {
  return buffer_.device()->read(buffer_, offset, bytes, options).value();
}

Future<> Buffer::written(const CommandOptions& options) const {
  if (buffer_.device()->is_written(buffer_, options)) return make_ready_future();
  // A read of nothing: it has its place behind the writes, and suffers from what failed.
  return read_bytes_into({}, nullptr, 0, options).future();
}

HostView Buffer::host_view() const {
  const DeviceInfo& info = buffer_.device()->info();
  if (!info.host_addressable)
    throw Error{"host_view",
                ErrorCode::unsupported,
                "the host cannot read the device's memory in place",
                {{"device", info.name}}};
  written().get();
  const std::shared_ptr<MemoryLease> memory = buffer_.actor().call(ShareMemory{}).get();
  if (!memory) throw Error{"host_view", ErrorCode::released, "the buffer was released"};
  return {{memory->view().host(), size()}, memory};
}

Command Buffer::write_bytes(std::span<const std::byte> bytes, std::size_t offset,
                            const CommandOptions& options) const {
  return {buffer_.device()->write(buffer_, offset, bytes, options).value(), buffer_.device()};
}

Command Buffer::fill(double value, const CommandOptions& options) const {
  const auto pattern = kernels::fill::pattern(value, dtype()).value();
  const auto element = std::span{pattern}.first(size_of(dtype()));
  return {buffer_.device()->fill(buffer_, element, options).value(), buffer_.device()};
}

Command Buffer::copy_to(const Buffer& target, const CommandOptions& options) const {
  if (!target)
    throw Error{"copy", ErrorCode::invalid_argument, "an empty buffer handle was passed"};
  if (spec() != target.spec())
    throw Error{"copy",
                dtype() != target.dtype() ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
                "source and target differ",
                {{"source", spec().to_string()}, {"target", target.spec().to_string()}}};
  return copy_to(target, 0, 0, size(), options);
}

Command Buffer::copy_to(const Buffer& target, std::size_t offset, std::size_t target_offset,
                        std::size_t bytes, const CommandOptions& options) const {
  const auto& device = buffer_.device();
  return {device->copy(buffer_, offset, target.buffer_, target_offset, bytes, options).value(),
          target.buffer_.device()};
}

void Buffer::release() const { buffer_.device()->release(buffer_); }

bool Buffer::released() const noexcept {
  return buffer_.state()->released.load(std::memory_order_acquire);
}

void Buffer::check_element_type(std::string_view op, DType wanted) const {
  if (dtype() == wanted) return;
  // A bool is a byte that holds 0 or 1.
  if (dtype() == DType::boolean && wanted == DType::u8) return;
  throw Error{
      std::string{op},
      ErrorCode::dtype_mismatch,
      "the buffer holds another dtype",
      {{"buffer", std::string{to_string(dtype())}}, {"asked_for", std::string{to_string(wanted)}}}};
}

std::size_t Buffer::checked_count(std::string_view op, std::size_t first, std::size_t count) const {
  if (first <= elements() && count <= elements() - first) return count;
  throw Error{std::string{op},
              ErrorCode::invalid_argument,
              "the range is outside the buffer",
              {{"first", std::to_string(first)},
               {"count", std::to_string(count)},
               {"elements", std::to_string(elements())}}};
}

}  // namespace stoker
