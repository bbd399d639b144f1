#include "stoker/pipeline/tensor/files/transfer.hpp"

#include <algorithm>
#include <deque>

#include "stoker/actors/device/device_client.hpp"

namespace stoker::files {
namespace {

constexpr std::size_t pieces_in_flight = 2;

void normalise(std::span<std::byte> bytes) {
  for (std::byte& one : bytes) one = one == std::byte{} ? one : std::byte{1};
}

}  // namespace

Result<DeviceBuffer> upload(DeviceClient& device, const TensorSpec& spec, const Pull& pull) {
  STOKER_ASSIGN(DeviceBuffer buffer, device.make_buffer(spec));
  const bool truths = spec.dtype == DType::boolean;
  const std::size_t bytes = spec.bytes();
  const MemoryView memory = buffer.state()->memory->view();  // nobody else knows the buffer yet
  if (bytes == 0) return buffer;
  if (device.info().host_addressable && memory.host()) {
    const std::span<std::byte> target{memory.host(), bytes};
    STOKER_TRY(pull(target));
    if (truths) normalise(target);
    return buffer;
  }
  std::vector<std::byte> piece(std::min(bytes, piece_bytes));
  std::deque<CommandPtr> sent;
  for (std::size_t offset = 0; offset < bytes; offset += piece.size()) {
    piece.resize(std::min(piece_bytes, bytes - offset));
    STOKER_TRY(pull(piece));
    if (truths) normalise(piece);
    if (sent.size() == pieces_in_flight) {
      STOKER_TRY(Future<void>{boost::intrusive_ptr<FutureState<void>>{sent.front()}}.wait());
      sent.pop_front();
    }
    STOKER_ASSIGN(CommandPtr command, device.write(buffer, offset, piece));
    command->observe();  // a failure reaches whoever uses the buffer
    sent.push_back(std::move(command));
  }
  return buffer;
}

Result<DeviceBuffer> send(
    DeviceClient& device, const TensorSpec& spec, std::span<const std::byte> data,
    const std::function<void(std::size_t offset, std::size_t bytes)>& copied) {
  STOKER_ASSIGN(DeviceBuffer buffer, device.make_buffer(spec));
  for (std::size_t offset = 0; offset < data.size(); offset += piece_bytes) {
    const std::span piece = data.subspan(offset, std::min(piece_bytes, data.size() - offset));
    STOKER_ASSIGN(const CommandPtr command, device.write(buffer, offset, piece));
    command->observe();  // a failure reaches whoever uses the buffer
    copied(offset, piece.size());
  }
  return buffer;
}

Result<void> Download::ask() {
  const std::uint64_t bytes = std::min<std::uint64_t>(piece_bytes, buffer_.spec().bytes() - asked_);
  coming_ = {};
  if (bytes == 0) return {};
  STOKER_ASSIGN(coming_, buffer_.device()->read(buffer_, asked_, bytes));
  asked_ += bytes;
  return {};
}

Result<std::span<const std::byte>> Download::next() {
  if (asked_ == 0) STOKER_TRY(ask());
  if (!coming_.valid()) return std::span<const std::byte>{};
  try {
    piece_ = std::move(coming_).get();
  } catch (const Error& error) {
    return error;
  }
  STOKER_TRY(ask());
  return std::span<const std::byte>{piece_};
}

Result<void> download(const DeviceBuffer& buffer, const Push& push) {
  Download pieces{buffer};
  for (;;) {
    STOKER_ASSIGN(const std::span<const std::byte> piece, pieces.next());
    if (piece.empty()) return {};
    STOKER_TRY(push(piece));
  }
}

}  // namespace stoker::files
