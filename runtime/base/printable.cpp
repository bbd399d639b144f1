#include "stoker/runtime/base/printable.hpp"

#include <cstdint>

#include "stoker/runtime/base/utf8.hpp"

namespace stoker {
namespace {

bool is_shown(std::uint32_t code) noexcept {
  if (code == '\n' || code == '\t') return true;
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return !control && code != Utf8Character::none;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    for (const char c : text.substr(0, first.bytes)) {
      const auto byte = static_cast<unsigned char>(c);
      if (is_shown(first.code))
        shown += c;
      else
        shown.append("\\x").append({digits[byte >> 4U], digits[byte & 15U]});
    }
    text.remove_prefix(first.bytes);
  }
  return shown;
}

}  // namespace stoker
