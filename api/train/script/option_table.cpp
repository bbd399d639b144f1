#include "stoker/api/train/script/option_table.hpp"

#include <algorithm>

#include "stoker/api/train/script/handles.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn::script {

OptionTable::OptionTable(lua_State* L, int index, std::string op,
                         std::initializer_list<std::string_view> known)
    : L_{L}, table_{0}, op_{std::move(op)} {
  if (lua_isnoneornil(L, index)) return;
  if (!lua_istable(L, index))
    refuse(L, op_, "options are written {name = value, …}, got " + type_at(L, index));
  table_ = lua_absindex(L, index);
  lua_pushnil(L);
  while (lua_next(L, table_) != 0) {
    lua::spend(L, 2);
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING) refuse(L, op_, "options are written {name = value, …}");
    const std::string_view key = lua::check_text(L, -1);
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::vector<std::string_view> names{known};
    lua::raise(L, Error{"nn." + op_,
                        ErrorCode::invalid_parameter,
                        "there is no option '" + std::string{key.substr(0, 64)} + "'" +
                            did_you_mean(key.substr(0, 64), names),
                        {{"parameter", std::string{key.substr(0, 64)}}}});
  }
}

bool OptionTable::push(const char* name) const {
  if (table_ == 0) return false;
  lua_pushstring(L_, name);
  if (lua_rawget(L_, table_) != LUA_TNIL) return true;
  lua_pop(L_, 1);
  return false;
}

void OptionTable::refuse_value(const char* name, std::string_view expected) const {
  lua::raise(L_, Error{"nn." + op_,
                       ErrorCode::invalid_parameter,
                       std::string{name} + " must be " + std::string{expected},
                       {{"parameter", name}, {"got", lua::value_text(L_, -1)}}});
}

std::optional<bool> OptionTable::flag(const char* name) const {
  if (!push(name)) return {};
  if (!lua_isboolean(L_, -1)) refuse_value(name, "true or false");
  const bool value = lua_toboolean(L_, -1) != 0;
  lua_pop(L_, 1);
  return value;
}

std::optional<std::int64_t> OptionTable::integer(const char* name) const {
  if (!push(name)) return {};
  int whole = 0;
  const lua_Integer value = lua_tointegerx(L_, -1, &whole);
  if (whole == 0 || lua_type(L_, -1) != LUA_TNUMBER) refuse_value(name, "a whole number");
  lua_pop(L_, 1);
  return value;
}

std::optional<double> OptionTable::real(const char* name) const {
  if (!push(name)) return {};
  if (lua_type(L_, -1) != LUA_TNUMBER) refuse_value(name, "a number");
  const double value = lua_tonumber(L_, -1);
  lua_pop(L_, 1);
  return value;
}

std::optional<std::string> OptionTable::text(const char* name) const {
  if (!push(name)) return {};
  if (lua_type(L_, -1) != LUA_TSTRING) refuse_value(name, "a text");
  std::string value{lua::check_text(L_, -1)};
  lua_pop(L_, 1);
  return value;
}

std::optional<std::uint64_t> OptionTable::seed() const {
  const auto value = integer("seed");
  if (!value) return {};
  return static_cast<std::uint64_t>(*value);
}

std::vector<std::string> OptionTable::texts(const char* name) const {
  if (!push(name)) return {};
  std::vector<std::string> values;
  if (lua_type(L_, -1) == LUA_TSTRING) {
    values.emplace_back(lua::check_text(L_, -1));
  } else {
    if (!lua_istable(L_, -1)) refuse_value(name, "a text or a list of texts");
    const auto count = static_cast<lua_Integer>(lua_rawlen(L_, -1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua::spend(L_, 2);
      lua_rawgeti(L_, -1, i);
      if (lua_type(L_, -1) != LUA_TSTRING) refuse_value(name, "a text or a list of texts");
      values.emplace_back(lua::check_text(L_, -1));
      lua_pop(L_, 1);
    }
  }
  lua_pop(L_, 1);
  return values;
}

std::optional<std::vector<std::int64_t>> OptionTable::integers(const char* name) const {
  if (!push(name)) return {};
  std::vector<std::int64_t> values = lua::check_integers(L_, lua_gettop(L_), "nn." + op_, name);
  lua_pop(L_, 1);
  return values;
}

}  // namespace stoker::nn::script
