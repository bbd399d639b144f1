#include "stoker/pipeline/protobuf/wire_writer.hpp"

#include <cstring>

namespace stoker::protobuf {
namespace {

/// The kinds of fields, as the format numbers them.
constexpr std::uint64_t varint = 0;
constexpr std::uint64_t counted = 2;
constexpr std::uint64_t fixed32 = 5;

constexpr std::uint64_t tag(std::uint64_t field, std::uint64_t kind) { return field << 3U | kind; }

}  // namespace

void WireWriter::append_varint(std::string& to, std::uint64_t value) {
  for (; value > 0x7f; value >>= 7U) to += static_cast<char>(value | 0x80U);
  to += static_cast<char>(value);
}

WireWriter& WireWriter::integer(std::uint64_t field, std::int64_t value) {
  append_varint(written_, tag(field, varint));
  append_varint(written_, static_cast<std::uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::real(std::uint64_t field, float value) {
  append_varint(written_, tag(field, fixed32));
  char content[sizeof value];
  std::memcpy(content, &value, sizeof value);
  written_.append(content, sizeof value);
  return *this;
}

WireWriter& WireWriter::bytes(std::uint64_t field, std::string_view content) {
  append_varint(written_, tag(field, counted));
  append_varint(written_, content.size());
  written_ += content;
  return *this;
}

WireWriter& WireWriter::bytes(std::uint64_t field, std::span<const std::byte> content) {
  return bytes(field,
               std::string_view{reinterpret_cast<const char*>(content.data()), content.size()});
}

WireWriter& WireWriter::packed(std::uint64_t field, std::span<const std::int64_t> values) {
  std::string content;
  for (const std::int64_t value : values) append_varint(content, static_cast<std::uint64_t>(value));
  return bytes(field, content);
}

}  // namespace stoker::protobuf
