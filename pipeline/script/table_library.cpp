// The table library, written anew: the loops of Lua's own run as far as a script's __len says, in
// C, where the count hook does not reach. Here every turn is a step.
//
// As in Lua, elements are read and written with their metamethods.

#include <limits>

#include "stoker/pipeline/script/script.hpp"

namespace stoker::script {
namespace {

// What an element costs, in instructions that take as long.
constexpr std::uint64_t turn = 4;
constexpr std::uint64_t comparison = 20;

constexpr lua_Integer largest = std::numeric_limits<lua_Integer>::max();

lua_Integer length(lua_State* L, int index) {
  luaL_checktype(L, index, LUA_TTABLE);
  return luaL_len(L, index);
}

int insert(lua_State* L, Script&) {
  // The sum may wrap, as in Lua.
  const auto end = static_cast<lua_Integer>(static_cast<lua_Unsigned>(length(L, 1)) + 1);
  lua_Integer position = end;
  switch (lua_gettop(L)) {
    case 2: break;
    case 3:
      position = luaL_checkinteger(L, 2);
      luaL_argcheck(L, static_cast<lua_Unsigned>(position) - 1 < static_cast<lua_Unsigned>(end), 2,
                    "position out of bounds");
      for (lua_Integer i = end; i > position; --i) {
        spend(L, turn);
        lua_geti(L, 1, i - 1);
        lua_seti(L, 1, i);
      }
      break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  lua_seti(L, 1, position);
  return 0;
}

int remove(lua_State* L, Script&) {
  const lua_Integer size = length(L, 1);
  lua_Integer position = luaL_optinteger(L, 2, size);
  if (position != size)
    luaL_argcheck(L, static_cast<lua_Unsigned>(position) - 1 <= static_cast<lua_Unsigned>(size), 2,
                  "position out of bounds");
  lua_geti(L, 1, position);
  for (; position < size; ++position) {
    spend(L, turn);
    lua_geti(L, 1, position + 1);
    lua_seti(L, 1, position);
  }
  lua_pushnil(L);
  lua_seti(L, 1, position);
  return 1;
}

int move(lua_State* L, Script&) {
  const lua_Integer first = luaL_checkinteger(L, 2);
  const lua_Integer last = luaL_checkinteger(L, 3);
  const lua_Integer target = luaL_checkinteger(L, 4);
  const int to = lua_isnoneornil(L, 5) ? 1 : 5;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, to, LUA_TTABLE);
  if (last >= first) {
    luaL_argcheck(L, first > 0 || last < largest + first, 3, "too many elements to move");
    const lua_Integer count = last - first + 1;
    luaL_argcheck(L, target <= largest - count + 1, 4, "destination wrap around");
    const auto copy = [&](lua_Integer i) {
      spend(L, turn);
      lua_geti(L, 1, first + i);
      lua_seti(L, to, target + i);
    };
    // Where the ranges overlap, the later elements must leave first.
    const bool forwards =
        target > last || target <= first || (to != 1 && lua_compare(L, 1, to, LUA_OPEQ) == 0);
    if (forwards) {
      for (lua_Integer i = 0; i < count; ++i) copy(i);
    } else {
      for (lua_Integer i = count - 1; i >= 0; --i) copy(i);
    }
  }
  lua_pushvalue(L, to);
  return 1;
}

int concat(lua_State* L, Script&) {
  const lua_Integer size = length(L, 1);
  std::size_t separator_size = 0;
  const char* const separator = luaL_optlstring(L, 2, "", &separator_size);
  lua_Integer i = luaL_optinteger(L, 3, 1);
  const lua_Integer last = luaL_optinteger(L, 4, size);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  while (i <= last) {
    spend(L, turn);
    lua_geti(L, 1, i);
    if (lua_isstring(L, -1) == 0)
      luaL_error(L, "invalid value (at index %I) in table for 'concat'",
                 static_cast<LUAI_UACINT>(i));
    luaL_addvalue(&out);
    if (i++ == last) break;  // so that i cannot pass the largest integer
    luaL_addlstring(&out, separator, separator_size);
  }
  luaL_pushresult(&out);
  return 1;
}

int pack(lua_State* L, Script&) {
  const int count = lua_gettop(L);
  spend(L, static_cast<std::uint64_t>(count));
  lua_createtable(L, count, 1);
  lua_insert(L, 1);
  for (int i = count; i >= 1; --i) lua_seti(L, 1, i);
  lua_pushinteger(L, count);
  lua_setfield(L, 1, "n");
  return 1;
}

int unpack(lua_State* L, Script&) {
  const lua_Integer first = luaL_optinteger(L, 2, 1);
  const lua_Integer last = luaL_opt(L, luaL_checkinteger, 3, luaL_len(L, 1));
  if (first > last) return 0;
  const lua_Unsigned count = static_cast<lua_Unsigned>(last) - static_cast<lua_Unsigned>(first);
  if (count >= std::numeric_limits<int>::max() ||
      lua_checkstack(L, static_cast<int>(count + 1)) == 0)
    return luaL_error(L, "too many results to unpack");
  for (lua_Unsigned i = 0; i <= count; ++i) {
    spend(L, turn);
    lua_geti(L, 1, first + static_cast<lua_Integer>(i));
  }
  return static_cast<int>(count + 1);
}

/// The comparison that sort() calls: upvalue 1 is the script's, or nil for "<".
int charged_less(lua_State* L) {
  spend(L, comparison);
  if (lua_isnil(L, lua_upvalueindex(1))) {
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

int sort(lua_State* L, Script&) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, charged_less, 1);
  lua_pushvalue(L, lua_upvalueindex(1));  // Lua's own sort
  lua_insert(L, 1);
  lua_call(L, 2, 0);
  return 0;
}

}  // namespace

void open_tables(lua_State* L) {
  luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
  lua_getfield(L, -1, "sort");
  lua_pushcclosure(L, function<sort>, 1);
  lua_setfield(L, -2, "sort");
  const luaL_Reg replaced[] = {{"concat", function<concat>},
                               {"insert", function<insert>},
                               {"move", function<move>},
                               {"pack", function<pack>},
                               {"remove", function<remove>},
                               {"unpack", function<unpack>},
                               {nullptr, nullptr}};
  luaL_setfuncs(L, replaced, 0);
  lua_pop(L, 1);
}

}  // namespace stoker::script
