#include "stoker/runtime/base/printable.hpp"

#include <cstdint>

namespace stoker {
namespace {

constexpr std::uint32_t no_character = 0xffffffff;

struct Character {
  std::uint32_t code;  // no_character: this byte begins none
  std::size_t bytes;
};

/// The first character of a text that is not empty, as Unicode (3.9, table 3-7) allows it in UTF-8.
Character first_of(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {no_character, 1};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return {no_character, 1};
    code = code << 6U | (at(i) & 0x3fU);
  }
  const bool shortest = code >= (bytes == 2 ? 0x80U : bytes == 3 ? 0x800U : 0x10000U);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (!shortest || surrogate || code > 0x10ffff) return {no_character, 1};
  return {code, bytes};
}

bool is_shown(std::uint32_t code) noexcept {
  if (code == '\n' || code == '\t') return true;
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return !control && code != no_character;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character first = first_of(text);
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
