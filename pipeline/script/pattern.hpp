// Lua's patterns (Lua 5.4 reference manual, §6.4.1), matched by code of our own: the library's
// would run for as long as a pattern makes it, where no hook can stop it.
//
// A pattern is first taken apart into items; what is wrong with it is raised then, also where Lua
// itself would not have come that far. pattern_matcher.hpp matches them.
//
// Threads: the script's process.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/pipeline/script/lua_glue.hpp"

namespace stoker::script {

class Pattern {
 public:
  static constexpr std::size_t max_captures = 32;  // as Lua
  using CharSet = std::bitset<256>;

  enum class Kind : std::uint8_t { single, open, position, close, back, balance, frontier, end };
  enum class Repeat : std::uint8_t { once, optional, star, plus, lazy };
  struct Item {
    Kind kind = Kind::single;
    Repeat repeat = Repeat::once;
    std::uint8_t capture = 0;  ///< open, position, close, back
    unsigned char first = 0;   ///< single: the character, if `set` is none; balance: both ends
    unsigned char last = 0;
    std::int32_t set = -1;  ///< single, frontier: index into sets()
  };

  /// Raises what is wrong with the pattern. With `anchors`, a '^' in front binds it to the start.
  Pattern(lua_State* L, std::string_view text, bool anchors);

  [[nodiscard]] bool anchored() const noexcept { return anchored_; }
  [[nodiscard]] const std::vector<Item>& items() const noexcept { return items_; }
  [[nodiscard]] const CharSet& set(std::int32_t index) const noexcept {
    return sets_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::size_t captures() const noexcept { return captures_; }
  /// Memory it holds, for the script's account.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return items_.capacity() * sizeof(Item) + sets_.capacity() * sizeof(CharSet);
  }

 private:
  struct Parser;
  bool anchored_ = false;
  std::size_t captures_ = 0;
  std::vector<Item> items_;
  std::vector<CharSet> sets_;
};

}  // namespace stoker::script
