#include "stoker/pipeline/script/lua/pattern_matcher.hpp"

#include <cctype>
#include <utility>

namespace stoker::script {
namespace {

constexpr char escape = '%';

int code(char c) { return static_cast<unsigned char>(c); }

/// Whether `c` belongs to the class %a, %d, …; of other letters only the letter itself does.
bool in_class(char c, char letter) {
  const auto belongs = [c](int name) -> int {
    switch (name) {
      case 'a': return std::isalpha(code(c));
      case 'c': return std::iscntrl(code(c));
      case 'd': return std::isdigit(code(c));
      case 'g': return std::isgraph(code(c));
      case 'l': return std::islower(code(c));
      case 'p': return std::ispunct(code(c));
      case 's': return std::isspace(code(c));
      case 'u': return std::isupper(code(c));
      case 'w': return std::isalnum(code(c));
      case 'x': return std::isxdigit(code(c));
      case 'z': return c == '\0';  // out of Lua's manual, not out of Lua
      default: return -1;
    }
  };
  const int belonging = belongs(std::tolower(code(letter)));
  if (belonging < 0) return c == letter;
  return (belonging != 0) != (std::isupper(code(letter)) != 0);
}

/// Whether `c` belongs to the set between '[' and ']', at which the arguments point. A range is
/// read before an escape: "[a-%z]" ends its range with '%'.
bool in_set(char c, const char* set, const char* last) {
  const bool complement = set[1] == '^';
  const char* at = complement ? set + 2 : set + 1;
  for (; at < last; ++at) {
    bool found = false;
    if (*at == escape) {
      found = in_class(c, *++at);
    } else if (at[1] == '-' && at + 2 < last) {
      found = code(at[0]) <= code(c) && code(c) <= code(at[2]);
      at += 2;
    } else {
      found = *at == c;
    }
    if (found) return !complement;
  }
  return complement;
}

}  // namespace

void PatternMatcher::step(std::size_t steps) {
  constexpr std::uint64_t batch = 256;
  steps_ += steps;
  if (steps_ >= batch) spend(L_, std::exchange(steps_, 0));
}

const char* PatternMatcher::match(const char* at) {
  count_ = 0;
  depth_ = 0;
  return match_rest(at, pattern_);
}

const char* PatternMatcher::match_rest(const char* at, const char* item) {
  if (++depth_ > max_depth) luaL_error(L_, "pattern too complex");
  const char* const end = match_items(at, item);
  --depth_;
  return end;
}

// Calls match_rest() where it may have to come back and try something else; the rest is the loop.
const char* PatternMatcher::match_items(const char* at, const char* item) {
  while (at != nullptr && item != pattern_end_) {
    step();
    const char next = item[1];
    if (*item == '(') {
      return next == ')' ? open_capture(at, item + 2, Extent::position)
                         : open_capture(at, item + 1, Extent::unfinished);
    }
    if (*item == ')') return close_capture(at, item + 1);
    if (*item == '$' && item + 1 == pattern_end_) return at == end_ ? at : nullptr;
    if (*item == escape && next == 'b') {
      at = match_balance(at, item + 2);
      item += 4;
      continue;
    }
    if (*item == escape && next == 'f') {
      const char* const set = item + 2;
      if (*set != '[') luaL_error(L_, "missing '[' after '%%f' in pattern");
      item = end_of_item(set);
      if (!enters_set(at, set, item)) return nullptr;
      continue;
    }
    if (*item == escape && std::isdigit(code(next)) != 0) {
      at = match_back(at, next);
      item += 2;
      continue;
    }
    const char* const item_end = end_of_item(item);
    const bool fit = fits(at, item, item_end);
    switch (*item_end) {
      case '?':
        if (fit)
          if (const char* const end = match_rest(at + 1, item_end + 1)) return end;
        item = item_end + 1;
        break;
      case '+': return fit ? expand_most(at + 1, item, item_end) : nullptr;
      case '*':
        if (fit) return expand_most(at, item, item_end);
        item = item_end + 1;
        break;
      case '-':
        if (fit) return expand_least(at, item, item_end);
        item = item_end + 1;
        break;
      default:
        at = fit ? at + 1 : nullptr;
        item = item_end;
        break;
    }
  }
  return at;
}

const char* PatternMatcher::open_capture(const char* at, const char* item, Extent extent) {
  if (count_ == max_captures) luaL_error(L_, "too many captures");
  captures_[count_++] = {at, at, extent};
  const char* const end = match_rest(at, item);
  if (end == nullptr) --count_;
  return end;
}

const char* PatternMatcher::close_capture(const char* at, const char* item) {
  std::size_t index = count_;
  while (index > 0 && captures_[index - 1].extent != Extent::unfinished) --index;
  if (index == 0) luaL_error(L_, "invalid pattern capture");
  Capture& capture = captures_[index - 1];
  capture.to = at;
  capture.extent = Extent::text;
  const char* const end = match_rest(at, item);
  if (end == nullptr) capture.extent = Extent::unfinished;
  return end;
}

const char* PatternMatcher::expand_most(const char* at, const char* item, const char* item_end) {
  const char* last = at;
  while (fits(last, item, item_end)) ++last;
  for (;; --last) {
    step();
    const char* const end = match_rest(last, item_end + 1);
    if (end != nullptr || last == at) return end;
  }
}

const char* PatternMatcher::expand_least(const char* at, const char* item, const char* item_end) {
  for (;; ++at) {
    step();
    if (const char* const end = match_rest(at, item_end + 1)) return end;
    if (!fits(at, item, item_end)) return nullptr;
  }
}

const char* PatternMatcher::match_balance(const char* at, const char* ends) {
  if (pattern_end_ - ends < 2) luaL_error(L_, "malformed pattern (missing arguments to '%%b')");
  if (at == end_ || *at != ends[0]) return nullptr;
  std::size_t open = 1;
  for (++at; at != end_; ++at) {
    step();
    if (*at == ends[1]) {
      if (--open == 0) return at + 1;
    } else if (*at == ends[0]) {
      ++open;
    }
  }
  return nullptr;
}

const char* PatternMatcher::match_back(const char* at, char digit) {
  const int index = digit - '1';
  if (index < 0 || static_cast<std::size_t>(index) >= count_ ||
      captures_[static_cast<std::size_t>(index)].extent == Extent::unfinished)
    luaL_error(L_, "invalid capture index %%%d", index + 1);
  const Capture& capture = captures_[static_cast<std::size_t>(index)];
  if (capture.extent == Extent::position) return nullptr;  // no text is equal to it
  const std::string_view text{capture.from, static_cast<std::size_t>(capture.to - capture.from)};
  step(text.size() / 16);
  const std::string_view rest{at, static_cast<std::size_t>(end_ - at)};
  return rest.starts_with(text) ? at + text.size() : nullptr;
}

bool PatternMatcher::enters_set(const char* at, const char* set, const char* set_end) {
  step(static_cast<std::size_t>(set_end - set) / 8);
  const char before = at == begin_ ? '\0' : at[-1];
  return !in_set(before, set, set_end - 1) && in_set(*at, set, set_end - 1);
}

bool PatternMatcher::fits(const char* at, const char* item, const char* item_end) {
  step(1 + static_cast<std::size_t>(item_end - item) / 8);
  if (at == end_) return false;
  switch (*item) {
    case '.': return true;
    case escape: return in_class(*at, item[1]);
    case '[': return in_set(*at, item, item_end - 1);
    default: return *item == *at;
  }
}

const char* PatternMatcher::end_of_item(const char* item) {
  const char* at = item + 1;
  if (*item == escape) {
    if (at == pattern_end_) luaL_error(L_, "malformed pattern (ends with '%%')");
    return at + 1;
  }
  if (*item != '[') return at;
  if (*at == '^') ++at;
  // The first character is never the end: "[]]" and "[^]]" are sets of ']'.
  do {
    if (at == pattern_end_) luaL_error(L_, "malformed pattern (missing ']')");
    if (*at++ == escape && at != pattern_end_) ++at;
  } while (*at != ']');
  step(static_cast<std::size_t>(at - item) / 8);
  return at + 1;
}

void PatternMatcher::push_capture(std::size_t index, const char* from, const char* to) const {
  if (index >= count_) {
    if (index != 0) luaL_error(L_, "invalid capture index %%%d", static_cast<int>(index) + 1);
    push_text(L_, {from, static_cast<std::size_t>(to - from)});
    return;
  }
  const Capture& capture = captures_[index];
  switch (capture.extent) {
    case Extent::unfinished: luaL_error(L_, "unfinished capture"); break;
    case Extent::position: lua_pushinteger(L_, capture.from - begin_ + 1); break;
    case Extent::text:
      push_text(L_, {capture.from, static_cast<std::size_t>(capture.to - capture.from)});
      break;
  }
}

int PatternMatcher::push_captures(const char* from, const char* to, bool without_whole) const {
  const std::size_t count = count_ == 0 && !without_whole ? 1 : count_;
  luaL_checkstack(L_, static_cast<int>(count), "too many captures");
  for (std::size_t i = 0; i < count; ++i) push_capture(i, from, to);
  return static_cast<int>(count);
}

}  // namespace stoker::script
