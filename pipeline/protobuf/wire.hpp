// A walk over the fields of a message in protobuf's wire format. Nothing is copied: what is read points into the
// message. ONNX files and gRPC requests need so little of the format that this walk is shorter than schemas with
// generated code; and a process may hold any number of copies of protobuf beside it, and files may be larger than
// protobuf's 2 GiB.
// https://protobuf.dev/programming-guides/encoding
//
// Threads: one at a time. Lifetime: the message outlives the walk. Errors: none are returned. The first damage, or the
// first limit that is passed, is kept in the Progress that all walks of a file share; from then on every walk is at
// its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::protobuf {

/// How far the reading of a file got: why it stopped, if it did.
class Progress {
 public:
  /// `op`: that of errors. The texts outlive it.
  Progress(std::span<const std::byte> file, std::string name, const char* op) noexcept
      : file_{file}, name_{std::move(name)}, op_{op} {}

  /// io_error with the byte; `at` points into the file.
  void damaged(const std::byte* at, std::string reason);
  /// limit_exceeded with the limit's name.
  void exceeded(std::string_view limit, std::uint64_t most);
  [[nodiscard]] bool stopped() const noexcept { return why_.has_value(); }
  [[nodiscard]] const std::optional<Error>& why() const noexcept { return why_; }
  /// What errors call the file.
  [[nodiscard]] const std::string& file() const noexcept { return name_; }

 private:
  const std::span<const std::byte> file_;
  const std::string name_;
  const char* op_;
  std::optional<Error> why_;
};

class Wire {
 public:
  using Bytes = std::span<const std::byte>;

  Wire(Bytes message, Progress& progress) noexcept : rest_{message}, progress_{&progress} {}

  /// Goes to the next field; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

  // The content of the field. One that is stored in another way than asked for is damage, and read as 0 or nothing.
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::int64_t integer() { return static_cast<std::int64_t>(varint()); }
  [[nodiscard]] float real();
  /// Text, bytes or a message.
  [[nodiscard]] Bytes bytes();
  [[nodiscard]] std::string_view text();
  /// Elements of `width` (4 or 8) bytes each: one, or many packed.
  [[nodiscard]] Bytes fixed(std::size_t width);
  /// Gives each integer to `use`: one, or many packed. They are no more than count_integers(), and fewer after damage.
  template <class Use> void each_integer(Use&& use) {
    if (type_ != Type::bytes) {
      if (is(Type::varint)) use(varint_);
      return;
    }
    for (Bytes packed = content_; !packed.empty();) {
      const std::uint64_t value = take_varint(packed);
      if (progress_->stopped()) return;
      use(value);
    }
  }
  /// How many they are, without decoding them.
  [[nodiscard]] std::uint64_t count_integers() const noexcept;
  /// Appends the integers.
  void integers(std::vector<std::int64_t>& to);
  void reals(std::vector<float>& to);

 private:
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::uint64_t take_varint(Bytes& from);
  [[nodiscard]] bool is(Type type);
  void damaged(const std::byte* at, const char* reason);

  Bytes rest_;
  Progress* progress_;
  std::uint32_t number_ = 0;
  Type type_ = Type::varint;
  std::uint64_t varint_ = 0;  // of a varint
  Bytes content_;             // of any other
  const std::byte* at_ = nullptr;
};

}  // namespace stoker::protobuf
