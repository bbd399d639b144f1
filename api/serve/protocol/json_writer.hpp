// JSON written piece by piece into a string, without a document.
//
// Pure functions; any thread.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace stoker::serve::protocol {

/// The text in quotes, escaped. A byte that is no UTF-8 becomes U+FFFD.
void append_json_string(std::string& json, std::string_view text);

/// The fewest digits that read back as the same number; null for NaN and infinities.
void append_json_number(std::string& json, float number);
void append_json_number(std::string& json, double number);
template <std::integral N> void append_json_number(std::string& json, N number) {
  char digits[24];
  json.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace stoker::serve::protocol
