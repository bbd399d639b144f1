// The options of a function that a script calls: {name = value, …}.
//
// For functions called from Lua, by the rules of pipeline/script/lua/lua_glue.hpp. It belongs to one
// call: the table must stay at its place of the stack. Raises invalid_parameter with the name of the
// option, the expected and the given value.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::nn::script {

/// A table {name = value, …} whose names are all known. Missing options are empty.
class OptionTable {
 public:
  /// nil counts as an empty table. Raises for unknown names, with the nearest known one.
  OptionTable(lua_State* L, int index, std::string op,
              std::initializer_list<std::string_view> known);

  [[nodiscard]] std::optional<bool> flag(const char* name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name) const;
  [[nodiscard]] std::optional<double> real(const char* name) const;
  [[nodiscard]] std::optional<std::string> text(const char* name) const;
  [[nodiscard]] std::optional<std::uint64_t> seed() const;
  /// What a word stands for; words that stand for nothing are refused.
  template <class T, std::size_t Size>
  [[nodiscard]] std::optional<T> word(
      const char* name, const std::array<std::pair<std::string_view, T>, Size>& words) const {
    const std::optional<std::string> given = text(name);
    if (!given) return {};
    std::string known;
    for (const auto& [word, meant] : words) {
      if (word == *given) return meant;
      known.append(known.empty() ? "one of " : ", ").append(word);
    }
    if (push(name)) refuse_value(name, known);
    return {};
  }
  /// One text or a list of them.
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const char* name) const;
  /// Pushes the value. False, and nothing is pushed, if there is none.
  [[nodiscard]] bool push(const char* name) const;
  [[noreturn]] void refuse_value(const char* name, std::string_view expected) const;

 private:
  lua_State* L_;
  int table_;  // 0: none
  std::string op_;
};

}  // namespace stoker::nn::script
