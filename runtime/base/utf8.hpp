// Characters of UTF-8, as Unicode (3.9, table 3-7) allows them: the shortest form, no surrogates, up to U+10FFFF.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

struct Utf8Character {
  static constexpr std::uint32_t none = 0xffffffff;

  std::uint32_t code = none;  ///< none: the first byte begins no character
  std::size_t bytes = 1;

  [[nodiscard]] bool is_valid() const noexcept { return code != none; }
};

/// The first character of a text that is not empty.
[[nodiscard]] inline Utf8Character first_character(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (at(i) & 0x3fU);
  }
  const bool shortest = code >= (bytes == 2 ? 0x80U : bytes == 3 ? 0x800U : 0x10000U);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (!shortest || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

/// Appends the character. Precondition: `code` is one of Unicode's and no surrogate.
inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](std::uint32_t shift) { add(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0U | code >> 6U);
  } else if (code < 0x10000) {
    add(0xe0U | code >> 12U);
    add_rest(6);
  } else {
    add(0xf0U | code >> 18U);
    add_rest(12);
    add_rest(6);
  }
  add_rest(0);
}

}  // namespace stoker
