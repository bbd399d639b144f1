// The string library: Lua's own, with every function whose time depends on its texts charging for
// it, the pattern functions replaced by our own (pattern_matcher.hpp), and without string.dump.

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

#include "stoker/pipeline/script/lua/pattern_matcher.hpp"
#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::script {
namespace {

/// Where a search begins, from 0; beyond the end if `init` is.
std::size_t start_of(lua_State* L, int index, std::size_t size) {
  const lua_Integer init = luaL_optinteger(L, index, 1);
  if (init > 0) return static_cast<std::size_t>(init) - 1;
  if (init == 0 || init < -static_cast<lua_Integer>(size)) return 0;
  return size - static_cast<std::size_t>(-init);
}

/// Where `wanted` begins in `text` at or after `from`.
std::size_t find_plain(lua_State* L, std::string_view text, std::string_view wanted,
                       std::size_t from) {
  if (wanted.empty()) return from;
  while (text.size() - from >= wanted.size()) {
    const std::size_t last = text.size() - wanted.size();
    const std::size_t at = std::min(text.find(wanted.front(), from), last + 1);
    spend(L, 1 + (at - from) / 16 + wanted.size() / 16);
    if (at > last) break;
    if (text.substr(at, wanted.size()) == wanted) return at;
    from = at + 1;
  }
  return std::string_view::npos;
}

/// Takes away the '^' that binds a pattern to where the search begins.
bool take_anchor(std::string_view& pattern) {
  const bool anchored = pattern.starts_with('^');
  if (anchored) pattern.remove_prefix(1);
  return anchored;
}

enum class Want { position, captures };

template <Want want> int search(lua_State* L, Script&) {
  const std::string_view text = check_text(L, 1);
  std::string_view wanted = check_text(L, 2);
  const std::size_t start = start_of(L, 3, text.size());
  if (start > text.size()) {
    luaL_pushfail(L);
    return 1;
  }
  if constexpr (want == Want::position) {
    const bool plain =
        lua_toboolean(L, 4) != 0 || wanted.find_first_of("^$*+?.([%-") == std::string_view::npos;
    if (plain) {
      const std::size_t at = find_plain(L, text, wanted, start);
      if (at == std::string_view::npos) {
        luaL_pushfail(L);
        return 1;
      }
      lua_pushinteger(L, static_cast<lua_Integer>(at) + 1);
      lua_pushinteger(L, static_cast<lua_Integer>(at + wanted.size()));
      return 2;
    }
  }
  const bool anchored = take_anchor(wanted);
  PatternMatcher matcher{L, text, wanted};
  const char* const end = text.data() + text.size();
  for (const char* at = text.data() + start; at <= end; ++at) {
    if (const char* const match = matcher.match(at)) {
      if constexpr (want == Want::captures) return matcher.push_captures(at, match);
      lua_pushinteger(L, at - text.data() + 1);
      lua_pushinteger(L, match - text.data());
      return 2 + matcher.push_captures(at, match, true);
    }
    if (anchored) break;
    spend(L, 1);
  }
  luaL_pushfail(L);
  return 1;
}

/// What gmatch remembers between two matches. The texts are the iterator's upvalues 1 and 2.
struct Iteration {
  std::ptrdiff_t at;
  std::ptrdiff_t last_end = -1;  ///< of the match before
};

int next_match(lua_State* L, Script&) {
  Iteration& state = *static_cast<Iteration*>(lua_touserdata(L, lua_upvalueindex(3)));
  const std::string_view text = check_text(L, lua_upvalueindex(1));
  PatternMatcher matcher{L, text, check_text(L, lua_upvalueindex(2))};
  for (; state.at <= std::ssize(text); ++state.at) {
    spend(L, 1);
    const char* const from = text.data() + state.at;
    const char* const match = matcher.match(from);
    // An empty match right after a match would be found again and again.
    if (match == nullptr || match - text.data() == state.last_end) continue;
    state.at = state.last_end = match - text.data();
    return matcher.push_captures(from, match);
  }
  return 0;
}

int iterate_matches(lua_State* L, Script&) {
  const std::string_view text = check_text(L, 1);
  static_cast<void>(check_text(L, 2));
  const std::size_t start = std::min(start_of(L, 3, text.size()), text.size() + 1);
  lua_settop(L, 2);
  std::construct_at(static_cast<Iteration*>(lua_newuserdatauv(L, sizeof(Iteration), 0)),
                    Iteration{static_cast<std::ptrdiff_t>(start)});
  lua_pushcclosure(L, function<next_match>, 3);
  return 1;
}

/// Adds the replacement text with its %0–%9 filled in.
void add_text(lua_State* L, luaL_Buffer& out, const PatternMatcher& matcher, std::string_view text,
              const char* from, const char* to) {
  spend(L, text.size() / 4);
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('%'), text.size());
    luaL_addlstring(&out, text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const unsigned char c = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0;
    if (c == '%') {
      luaL_addchar(&out, '%');
    } else if (c == '0') {
      luaL_addlstring(&out, from, static_cast<std::size_t>(to - from));
    } else if (std::isdigit(c)) {
      matcher.push_capture(c - '1', from, to);
      luaL_addvalue(&out);
    } else {
      luaL_error(L, "invalid use of '%%' in replacement string");
    }
    text.remove_prefix(2);
  }
}

/// Adds what stands for the match; true if it differs from it.
bool add_replacement(lua_State* L, luaL_Buffer& out, const PatternMatcher& matcher,
                     const char* from, const char* to) {
  switch (lua_type(L, 3)) {
    case LUA_TFUNCTION: {
      lua_pushvalue(L, 3);
      const int count = matcher.push_captures(from, to);
      lua_call(L, count, 1);
      break;
    }
    case LUA_TTABLE:
      matcher.push_capture(0, from, to);
      lua_gettable(L, 3);
      break;
    default: add_text(L, out, matcher, check_text(L, 3), from, to); return true;
  }
  if (lua_toboolean(L, -1) == 0) {
    lua_pop(L, 1);
    luaL_addlstring(&out, from, static_cast<std::size_t>(to - from));
    return false;
  }
  if (lua_isstring(L, -1) == 0)
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  luaL_addvalue(&out);
  return true;
}

int substitute(lua_State* L, Script&) {
  const std::string_view text = check_text(L, 1);
  std::string_view wanted = check_text(L, 2);
  const lua_Integer most = luaL_optinteger(L, 4, static_cast<lua_Integer>(text.size()) + 1);
  const int type = lua_type(L, 3);
  luaL_argexpected(
      L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE,
      3, "string/function/table");
  const bool anchored = take_anchor(wanted);
  PatternMatcher matcher{L, text, wanted};
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  const char* last_match = nullptr;
  lua_Integer count = 0;
  bool changed = false;
  while (count < most) {
    spend(L, 1);
    const char* const match = matcher.match(at);
    if (match != nullptr && match != last_match) {
      ++count;
      changed = add_replacement(L, out, matcher, at, match) || changed;
      at = last_match = match;
    } else if (at < end) {
      luaL_addchar(&out, *at++);
    } else {
      break;
    }
    if (anchored) break;
  }
  if (changed) {
    luaL_addlstring(&out, at, static_cast<std::size_t>(end - at));
    luaL_pushresult(&out);
  } else {
    lua_pushvalue(L, 1);
  }
  lua_pushinteger(L, count);
  return 2;
}

/// rep(text, n, separator); Lua's own counts to n even if there is nothing to repeat.
int repeat(lua_State* L, Script&) {
  const std::string_view text = check_text(L, 1);
  const lua_Integer count = luaL_checkinteger(L, 2);
  std::size_t separator_size = 0;
  const char* const separator = luaL_optlstring(L, 3, "", &separator_size);
  const std::size_t size = text.size() + separator_size;
  if (count <= 0 || size == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  const auto most = static_cast<std::size_t>(std::numeric_limits<lua_Integer>::max());
  if (size > most / static_cast<std::size_t>(count))
    return luaL_error(L, "resulting string too large");
  luaL_Buffer out;
  char* at = luaL_buffinitsize(L, &out, size * static_cast<std::size_t>(count) - separator_size);
  spend(L, static_cast<std::uint64_t>(count) / 4 + size * static_cast<std::uint64_t>(count) / 64);
  const auto append = [&](const char* data, std::size_t bytes) {
    if (bytes > 0) std::memcpy(at, data, bytes);
    at += bytes;
  };
  for (lua_Integer i = 0; i < count; ++i) {
    append(text.data(), text.size());
    if (i + 1 < count) append(separator, separator_size);
  }
  luaL_pushresultsize(&out, size * static_cast<std::size_t>(count) - separator_size);
  return 1;
}

}  // namespace

void open_strings(lua_State* L) {
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
  charge_for_text(
      L, {"byte", "format", "lower", "pack", "packsize", "reverse", "sub", "unpack", "upper"});
  const luaL_Reg replaced[] = {{"find", function<search<Want::position>>},
                               {"match", function<search<Want::captures>>},
                               {"gmatch", function<iterate_matches>},
                               {"gsub", function<substitute>},
                               {"rep", function<repeat>},
                               {nullptr, nullptr}};
  luaL_setfuncs(L, replaced, 0);
  lua_pop(L, 1);
}

}  // namespace stoker::script
