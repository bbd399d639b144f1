// A message in protobuf's wire format, field by field.
// https://protobuf.dev/programming-guides/encoding
//
// A value. Threads: one at a time. A message within another is written first, and then copied into it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stoker::protobuf {

class WireWriter {
 public:
  WireWriter& integer(std::uint64_t field, std::int64_t value);
  WireWriter& real(std::uint64_t field, float value);
  /// Text, bytes or a message.
  WireWriter& bytes(std::uint64_t field, std::string_view content);
  WireWriter& bytes(std::uint64_t field, std::span<const std::byte> content);
  WireWriter& message(std::uint64_t field, const WireWriter& message) {
    return bytes(field, message.written_);
  }
  WireWriter& packed(std::uint64_t field, std::span<const std::int64_t> values);

  [[nodiscard]] const std::string& written() const& noexcept { return written_; }
  [[nodiscard]] std::string written() && noexcept { return std::move(written_); }

  static void append_varint(std::string& to, std::uint64_t value);

 private:
  std::string written_;
};

}  // namespace stoker::protobuf
