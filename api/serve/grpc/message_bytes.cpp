#include "stoker/api/serve/grpc/message_bytes.hpp"

#include <memory>
#include <utility>

namespace stoker::serve::grpc {

ReceivedMessage::ReceivedMessage(::grpc::ByteBuffer buffer)
    : buffer_{std::move(buffer)}, size_{buffer_.Length()} {}

std::span<const std::byte> ReceivedMessage::bytes() {
  if (!is_joined_) {
    if (!buffer_.TrySingleSlice(&joined_).ok())
      static_cast<void>(buffer_.DumpToSingleSlice(&joined_));  // fails for no message only
    buffer_.Clear();
    is_joined_ = true;
  }
  return std::as_bytes(std::span{joined_.begin(), joined_.size()});
}

::grpc::ByteBuffer buffer_of(std::string message) {
  constexpr std::size_t small = 1024;
  if (message.size() <= small) {
    const ::grpc::Slice copied{message.data(), message.size()};
    return {&copied, 1};
  }
  auto kept = std::make_unique<std::string>(std::move(message));
  std::string& text = *kept;
  const ::grpc::Slice slice{
      text.data(), text.size(),
      [](void* owner) {
        const std::unique_ptr<std::string> gone{static_cast<std::string*>(owner)};
      },
      kept.release()};
  return {&slice, 1};
}

}  // namespace stoker::serve::grpc
