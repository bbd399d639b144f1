#include "stoker/pipeline/script/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace stoker::script {
namespace {

constexpr char escape = '%';

/// The characters of %a, %d, … or nothing if `letter` names no class.
std::optional<Pattern::CharSet> class_of(unsigned char letter) {
  int (*belongs)(int) = nullptr;
  switch (std::tolower(letter)) {
    case 'a': belongs = std::isalpha; break;
    case 'c': belongs = std::iscntrl; break;
    case 'd': belongs = std::isdigit; break;
    case 'g': belongs = std::isgraph; break;
    case 'l': belongs = std::islower; break;
    case 'p': belongs = std::ispunct; break;
    case 's': belongs = std::isspace; break;
    case 'u': belongs = std::isupper; break;
    case 'w': belongs = std::isalnum; break;
    case 'x': belongs = std::isxdigit; break;
    default: return std::nullopt;
  }
  Pattern::CharSet set;
  for (int c = 0; c < 256; ++c) set[static_cast<std::size_t>(c)] = belongs(c) != 0;
  return std::isupper(letter) ? ~set : set;
}

void add_range(Pattern::CharSet& set, unsigned char first, unsigned char last) {
  for (unsigned c = first; c <= last; ++c) set.set(c);
}

/// The set written between '[' (and '^') and ']'.
Pattern::CharSet read_set(std::string_view text) {
  Pattern::CharSet set;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == escape && i + 1 < text.size()) {
      const auto letter = static_cast<unsigned char>(text[++i]);
      if (const auto members = class_of(letter))
        set |= *members;
      else
        set.set(letter);
    } else if (i + 2 < text.size() && text[i + 1] == '-') {
      add_range(set, c, static_cast<unsigned char>(text[i + 2]));
      i += 2;
    } else {
      set.set(c);
    }
  }
  return set;
}

}  // namespace

struct Pattern::Parser {
  lua_State* L;
  Pattern& pattern;
  std::string_view text;
  std::vector<std::uint8_t> open = {};  // captures that are not closed yet

  void parse() {
    while (!text.empty()) {
      spend(L, 1);
      parse_item();
    }
    if (!open.empty()) luaL_error(L, "unfinished capture");
  }

  char take() {
    const char c = text.front();
    text.remove_prefix(1);
    return c;
  }
  void add(Item item) { pattern.items_.push_back(item); }

  void parse_item() {
    const char c = take();
    switch (c) {
      case '(': return parse_open();
      case ')':
        if (open.empty()) luaL_error(L, "invalid pattern capture");
        add({.kind = Kind::close, .capture = open.back()});
        open.pop_back();
        return;
      case '$':
        if (text.empty()) return add({.kind = Kind::end});
        break;
      case escape:
        if (text.empty()) luaL_error(L, "malformed pattern (ends with '%%')");
        if (text.front() == 'b') return parse_balance();
        if (text.front() == 'f') return parse_frontier();
        if (std::isdigit(static_cast<unsigned char>(text.front()))) return parse_back();
        break;
      default: break;
    }
    Item item = parse_single(c);
    item.repeat = parse_repeat();
    add(item);
  }

  void parse_open() {
    if (pattern.captures_ == max_captures) luaL_error(L, "too many captures");
    const auto index = static_cast<std::uint8_t>(pattern.captures_++);
    if (!text.empty() && text.front() == ')') {
      take();
      return add({.kind = Kind::position, .capture = index});
    }
    open.push_back(index);
    add({.kind = Kind::open, .capture = index});
  }

  void parse_balance() {
    take();
    if (text.size() < 2) luaL_error(L, "malformed pattern (missing arguments to '%%b')");
    const auto first = static_cast<unsigned char>(take());
    add({.kind = Kind::balance, .first = first, .last = static_cast<unsigned char>(take())});
  }

  void parse_frontier() {
    take();
    if (text.empty() || text.front() != '[') luaL_error(L, "missing '[' after '%%f' in pattern");
    take();
    add({.kind = Kind::frontier, .set = parse_set()});
  }

  void parse_back() {
    const int number = take() - '1';
    const bool closed = number >= 0 && static_cast<std::size_t>(number) < pattern.captures_ &&
                        std::find(open.begin(), open.end(), number) == open.end();
    if (!closed) luaL_error(L, "invalid capture index %%%d", number + 1);
    add({.kind = Kind::back, .capture = static_cast<std::uint8_t>(number)});
  }

  Item parse_single(char c) {
    if (c == '.') return {.set = add_set(CharSet{}.set())};
    if (c == '[') return {.set = parse_set()};
    if (c == escape) {
      const auto letter = static_cast<unsigned char>(take());
      if (const auto members = class_of(letter)) return {.set = add_set(*members)};
      return {.first = letter};
    }
    return {.first = static_cast<unsigned char>(c)};
  }

  Repeat parse_repeat() {
    const char c = text.empty() ? '\0' : text.front();
    const Repeat repeat = c == '*'   ? Repeat::star
                          : c == '+' ? Repeat::plus
                          : c == '-' ? Repeat::lazy
                          : c == '?' ? Repeat::optional
                                     : Repeat::once;
    if (repeat != Repeat::once) take();
    return repeat;
  }

  /// After the '['. The first character is never the end, so "[]]" and "[^]]" are sets of ']'.
  std::int32_t parse_set() {
    const bool complement = !text.empty() && text.front() == '^';
    if (complement) take();
    std::size_t size = 0;
    do {
      if (size >= text.size()) luaL_error(L, "malformed pattern (missing ']')");
      if (text[size++] == escape) ++size;
      spend(L, 1);
    } while (size >= text.size() || text[size] != ']');
    const CharSet set = read_set(text.substr(0, size));
    text.remove_prefix(size + 1);
    return add_set(complement ? ~set : set);
  }

  std::int32_t add_set(const CharSet& set) {
    // A pattern may be as long as a text: its sets are part of what the script's steps pay for.
    spend(L, 16);
    pattern.sets_.push_back(set);
    return static_cast<std::int32_t>(pattern.sets_.size()) - 1;
  }
};

Pattern::Pattern(lua_State* L, std::string_view text, bool anchors) {
  // An item takes more memory than its text; nobody writes patterns of this size.
  if (text.size() > (std::size_t{1} << 16)) luaL_error(L, "pattern too long");
  if (anchors && text.starts_with('^')) {
    anchored_ = true;
    text.remove_prefix(1);
  }
  Parser{L, *this, text}.parse();
}

}  // namespace stoker::script
