#include "stoker/api/serve/protocol/json_writer.hpp"

#include <cmath>

#include "stoker/runtime/base/utf8.hpp"

namespace stoker::serve::protocol {
namespace {

bool is_plain(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void append_escaped(std::string& json, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"': json += "\\\""; break;
    case '\\': json += "\\\\"; break;
    case '\b': json += "\\b"; break;
    case '\f': json += "\\f"; break;
    case '\n': json += "\\n"; break;
    case '\r': json += "\\r"; break;
    case '\t': json += "\\t"; break;
    default: json.append("\\u00").append({digits[byte >> 4U], digits[byte & 15U]});
  }
}

template <class T> void append_float(std::string& json, T number) {
  if (!std::isfinite(number)) {
    json += "null";
    return;
  }
  if (number == 0 && std::signbit(number)) {
    json += "-0.0";  // -0 is an integer to many readers, which have no negative one
    return;
  }
  char digits[32];
  json.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void append_json_string(std::string& json, std::string_view text) {
  json += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    json += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character first = first_character(text);
    if (!first.is_valid())
      append_utf8(json, 0xfffd);
    else if (first.bytes == 1)
      append_escaped(json, text.front());
    else
      json += text.substr(0, first.bytes);
    text.remove_prefix(first.bytes);
  }
  json += '"';
}

void append_json_number(std::string& json, float number) { append_float(json, number); }
void append_json_number(std::string& json, double number) { append_float(json, number); }

}  // namespace stoker::serve::protocol
