// Messages of gRPC as bytes in one piece.
//
// Threads: as values.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <span>
#include <string>

namespace stoker::serve::grpc {

/// A message that came. Its parts are joined when the bytes are asked for first; a message of one part is not copied.
class ReceivedMessage {
 public:
  ReceivedMessage() = default;
  explicit ReceivedMessage(::grpc::ByteBuffer buffer);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// They live as long as this, which must not be moved meanwhile. Throws out_of_memory's std::bad_alloc.
  [[nodiscard]] std::span<const std::byte> bytes();

 private:
  ::grpc::ByteBuffer buffer_;
  ::grpc::Slice joined_;
  std::size_t size_ = 0;
  bool is_joined_ = false;
};

/// Without a copy of large messages.
[[nodiscard]] ::grpc::ByteBuffer buffer_of(std::string message);

}  // namespace stoker::serve::grpc
