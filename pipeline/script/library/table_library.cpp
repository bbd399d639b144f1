// The table library, written anew: the loops of Lua's own run as far as a script's __len says, in
// C, where the count hook does not reach. Here every turn is a step.
//
// As in Lua, elements are read and written with their metamethods.

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/pipeline/script/run/script.hpp"

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

/// Sorts by merging, in two tables of its own. Lua's sort looks at the clock to choose its way, so
/// that the same script would not cost the same twice.
class Sorter {
 public:
  explicit Sorter(lua_State* L) : L_{L}, ordered_by_script_{!lua_isnil(L, order)} {}

  void run() {
    const lua_Integer size = length(L_, elements);
    luaL_argcheck(L_, size < std::numeric_limits<int>::max(), elements, "array too big");
    lua_newtable(L_);
    lua_newtable(L_);
    for (lua_Integer i = 1; i <= size; ++i) {
      spend(L_, turn);
      lua_geti(L_, elements, i);
      lua_rawseti(L_, from_, i);
    }
    for (lua_Integer width = 1; width < size; width *= 2) {
      for (lua_Integer first = 1; first <= size; first += 2 * width)
        merge(first, std::min(first + width, size + 1), std::min(first + 2 * width, size + 1));
      std::swap(from_, to_);
    }
    for (lua_Integer i = 1; i <= size; ++i) {
      spend(L_, turn);
      lua_rawgeti(L_, from_, i);
      lua_seti(L_, elements, i);
    }
  }

 private:
  // What lies where on the stack.
  static constexpr int elements = 1;
  static constexpr int order = 2;

  /// Two sorted runs, [left, middle) and [middle, end), into one.
  void merge(lua_Integer left, lua_Integer middle, lua_Integer end) {
    lua_Integer right = middle;
    for (lua_Integer i = left; i < end; ++i) {
      spend(L_, turn);
      const bool take_right = right < end && (left == middle || is_less(right, left));
      lua_rawgeti(L_, from_, take_right ? right++ : left++);
      lua_rawseti(L_, to_, i);
    }
  }

  [[nodiscard]] bool is_less(lua_Integer one, lua_Integer other) {
    spend(L_, comparison);
    if (ordered_by_script_) lua_pushvalue(L_, order);
    lua_rawgeti(L_, from_, one);
    lua_rawgeti(L_, from_, other);
    bool less = false;
    if (ordered_by_script_) {
      lua_call(L_, 2, 1);
      less = lua_toboolean(L_, -1) != 0;
      lua_pop(L_, 1);
    } else {
      less = lua_compare(L_, -2, -1, LUA_OPLT) != 0;
      lua_pop(L_, 2);
    }
    return less;
  }

  lua_State* const L_;
  const bool ordered_by_script_;
  int from_ = 3;
  int to_ = 4;
};

int sort(lua_State* L, Script&) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  Sorter{L}.run();
  return 0;
}

}  // namespace

void open_tables(lua_State* L) {
  luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
  const luaL_Reg replaced[] = {{"concat", function<concat>}, {"insert", function<insert>},
                               {"move", function<move>},     {"pack", function<pack>},
                               {"remove", function<remove>}, {"sort", function<sort>},
                               {"unpack", function<unpack>}, {nullptr, nullptr}};
  luaL_setfuncs(L, replaced, 0);
  lua_pop(L, 1);
}

}  // namespace stoker::script
