#include "stoker/api/train/script/argument_reads.hpp"

#include <algorithm>

#include "stoker/api/train/script/handles.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn::script {
namespace {

// A script may make up names as it likes: what is noted of them stays small.
constexpr std::size_t most_names = 64;
constexpr std::size_t longest_name = 64;

bool is_given(lua_State* L, std::string_view name) {
  return std::ranges::any_of(lua::script_of(L).options().args,
                             [&](const auto& one) { return one.first == name; });
}

int read_argument(lua_State* L, lua::Script&) {
  if (lua_type(L, 2) == LUA_TSTRING) {
    const std::string_view name = lua::check_text(L, 2);
    std::set<std::string, std::less<>>& read = description_of(L).arguments_read;
    if (is_given(L, name) || (read.size() < most_names && name.size() <= longest_name))
      read.emplace(name);
  }
  lua_settop(L, 2);
  lua_rawget(L, lua_upvalueindex(1));
  return 1;
}

int write_argument(lua_State* L, lua::Script&) {
  lua_settop(L, 3);
  lua_rawset(L, lua_upvalueindex(1));
  return 0;
}

int all_arguments(lua_State* L, lua::Script&) {
  for (const auto& [name, value] : lua::script_of(L).options().args)
    description_of(L).arguments_read.insert(name);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushnil(L);
  return 3;
}

}  // namespace

void watch_arguments(lua_State* L) {
  lua_newtable(L);  // what the script sees
  lua_newtable(L);  // its metatable
  lua_getglobal(L, "args");
  const int real = lua_gettop(L);
  lua_pushvalue(L, real);
  lua_pushcclosure(L, lua::function<read_argument>, 1);
  lua_setfield(L, real - 1, "__index");
  lua_pushvalue(L, real);
  lua_pushcclosure(L, lua::function<write_argument>, 1);
  lua_setfield(L, real - 1, "__newindex");
  lua_pushvalue(L, real);
  lua_getglobal(L, "next");
  lua_pushcclosure(L, lua::function<all_arguments>, 2);
  lua_setfield(L, real - 1, "__pairs");
  lua_settop(L, real - 1);
  lua_setmetatable(L, -2);
  lua_setglobal(L, "args");
}

void check_arguments(lua_State* L) {
  const auto& read = description_of(L).arguments_read;
  for (const auto& [name, value] : lua::script_of(L).options().args) {
    if (read.contains(name)) continue;
    const std::vector<std::string_view> known{read.begin(), read.end()};
    const std::string shown = name.substr(0, longest_name);
    const std::string near = did_you_mean(shown, known);
    std::string names;
    for (const std::string& one : read) names += (names.empty() ? "" : ", ") + one;
    lua::raise(L, Error{"nn",
                        ErrorCode::invalid_argument,
                        "the script never reads the argument '" + shown + "'" +
                            (near.empty() ? "." : near) +
                            (names.empty() ? " It reads none" : " It reads " + names),
                        {{"argument", shown}}});
  }
}

}  // namespace stoker::nn::script
