// Matches one subject against one pattern. Matching backtracks, and charges every step.
//
// Lifetime: refers to the pattern and to the subject. Threads: the script's process.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stoker/pipeline/script/pattern.hpp"

namespace stoker::script {

/// One subject matched against one pattern, any number of times.
class PatternMatcher {
 public:
  PatternMatcher(lua_State* L, const Pattern& pattern, std::string_view subject) noexcept
      : L_{L}, pattern_{pattern}, begin_{subject.data()}, end_{subject.data() + subject.size()} {}

  /// The end of the match that starts at `at`, or null.
  [[nodiscard]] const char* match(const char* at);

  /// Pushes the captures of the last match; if the pattern has none, the whole match unless
  /// `without_whole`. Returns how many.
  int push_captures(const char* from, const char* to, bool without_whole = false) const;
  /// Pushes capture `index` (from 0); 0 is the whole match in a pattern without captures.
  void push_capture(std::size_t index, const char* from, const char* to) const;

 private:
  struct Capture {
    const char* from = nullptr;
    const char* to = nullptr;  ///< null: a position
  };

  const char* match_from(std::size_t item, const char* at);
  const char* match_repeated(const Pattern::Item& item, std::size_t next, const char* at);
  const char* match_balance(const Pattern::Item& item, const char* at);
  const char* match_back(const Pattern::Item& item, const char* at);
  [[nodiscard]] bool fits(const Pattern::Item& item, const char* at) const noexcept;
  void step(std::uint64_t steps = 1);

  lua_State* const L_;
  const Pattern& pattern_;
  const char* const begin_;
  const char* const end_;
  std::array<Capture, Pattern::max_captures> captures_{};
  std::uint64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace stoker::script
