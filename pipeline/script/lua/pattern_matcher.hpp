// Lua's patterns (Lua 5.4 reference manual, §6.4.1), matched by code of our own: the library's
// would run for as long as a pattern makes it, where no hook can stop it.
//
// Matching backtracks and charges every step. It reads the pattern as it goes, so that, as in Lua,
// what is wrong with a pattern is raised where a match comes to it, and nowhere else.
//
// Lifetime: refers to both texts, which must be Lua's own: the zero behind them is read, too.
// Threads: the script's process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::script {

/// One subject and one pattern, matched any number of times.
class PatternMatcher {
 public:
  static constexpr std::size_t max_captures = 32;  // as Lua
  static constexpr int max_depth = 200;            // as Lua

  /// A '^' that anchors the pattern is not part of it.
  PatternMatcher(lua_State* L, std::string_view subject, std::string_view pattern) noexcept
      : L_{L},
        begin_{subject.data()},
        end_{subject.data() + subject.size()},
        pattern_{pattern.data()},
        pattern_end_{pattern.data() + pattern.size()} {}

  /// The end of the match that starts at `at`, or null.
  [[nodiscard]] const char* match(const char* at);

  /// Pushes the captures of the last match; if it has none, the whole match unless `without_whole`.
  /// Returns how many.
  int push_captures(const char* from, const char* to, bool without_whole = false) const;
  /// Pushes capture `index` (from 0); 0 is the whole match if there are no captures.
  void push_capture(std::size_t index, const char* from, const char* to) const;

 private:
  enum class Extent : std::uint8_t { unfinished, position, text };
  struct Capture {
    const char* from;
    const char* to;
    Extent extent;
  };

  [[nodiscard]] const char* match_rest(const char* at, const char* item);
  [[nodiscard]] const char* match_items(const char* at, const char* item);
  [[nodiscard]] const char* open_capture(const char* at, const char* item, Extent extent);
  [[nodiscard]] const char* close_capture(const char* at, const char* item);
  [[nodiscard]] const char* expand_most(const char* at, const char* item, const char* item_end);
  [[nodiscard]] const char* expand_least(const char* at, const char* item, const char* item_end);
  [[nodiscard]] const char* match_balance(const char* at, const char* ends);
  [[nodiscard]] const char* match_back(const char* at, char digit);
  [[nodiscard]] bool enters_set(const char* at, const char* set, const char* set_end);
  [[nodiscard]] bool fits(const char* at, const char* item, const char* item_end);
  [[nodiscard]] const char* end_of_item(const char* item);
  void step(std::size_t steps = 1);

  lua_State* const L_;
  const char* const begin_;
  const char* const end_;
  const char* const pattern_;
  const char* const pattern_end_;
  std::array<Capture, max_captures> captures_;
  std::size_t count_ = 0;  ///< captures, finished or not
  int depth_ = 0;
  std::uint64_t steps_ = 0;  ///< not charged yet
};

}  // namespace stoker::script
