#include "stoker/pipeline/script/lua/value_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace stoker::script {
namespace {

constexpr std::size_t longest_text = 200;
constexpr std::size_t most_fields = 8;  // shown

std::string plain_text(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING: {
      const std::string_view text = check_text(L, index);
      return '"' + std::string{text.substr(0, longest_text)} +
             (text.size() > longest_text ? "…\"" : "\"");
    }
    case LUA_TNUMBER:
    case LUA_TBOOLEAN:
    case LUA_TNIL: {
      const std::string text{luaL_tolstring(L, index, nullptr)};
      lua_pop(L, 1);
      return text;
    }
    default: return std::string{"a "} + luaL_typename(L, index);
  }
}

/// The list's elements in their order, then the named fields in that of their names: Lua's own is
/// another one in each run.
struct Field {
  lua_Integer place = 0;  // 0: it has a name
  std::string name;
  std::string value;
  friend bool operator<(const Field& a, const Field& b) {
    return std::pair{a.place == 0, a.place} == std::pair{b.place == 0, b.place}
               ? a.name < b.name
               : std::pair{a.place == 0, a.place} < std::pair{b.place == 0, b.place};
  }
};

}  // namespace

std::string value_text(lua_State* L, int index) {
  index = lua_absindex(L, index);
  if (!lua_istable(L, index)) return plain_text(L, index);
  luaL_checkstack(L, 4, "error");
  std::vector<Field> fields;
  constexpr std::size_t looked_at = 256;
  bool more = false;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    if (fields.size() == looked_at) {
      more = true;
      lua_pop(L, 2);
      break;
    }
    Field field;
    if (lua_isinteger(L, -2) != 0) {
      field.place = lua_tointeger(L, -2);
      if (field.place < 1) field.name = "[" + plain_text(L, -2) + "] = ";
    } else {
      field.name = lua_type(L, -2) == LUA_TSTRING
                       ? std::string{check_text(L, -2).substr(0, longest_text)}
                       : "[" + plain_text(L, -2) + "]";
      field.name += " = ";
    }
    field.value = plain_text(L, -1);
    fields.push_back(std::move(field));
    lua_pop(L, 1);
  }
  std::ranges::sort(fields, std::less<>{});
  std::string text = "{";
  for (std::size_t i = 0; i < std::min(fields.size(), most_fields); ++i)
    text.append(i > 0 ? ", " : "").append(fields[i].name).append(fields[i].value);
  return text + (more || fields.size() > most_fields ? ", …}" : "}");
}

}  // namespace stoker::script
