// The base library as scripts get it: Lua's own, without what reaches files, modules, compiled
// chunks or the collector's switches, and with every function that catches errors replaced, so that
// a script which must end cannot catch that.
//
// Left out: collectgarbage (but for "count"), dofile, loadfile, require, package, io, debug, and of
// os everything but clock, date, difftime and time. Finalizers (__gc) are refused: Lua runs them
// without hooks, so they could not be stopped.

#include <algorithm>

#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::script {
namespace {

// What pcall and xpcall return, given the status and where their results begin.
int finish_call(lua_State* L, int status, int first) {
  if (status == LUA_ERRMEM) script_of(L).budget().exhaust_memory();
  check_budget(L);
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - first;
  lua_pushboolean(L, 0);
  lua_pushvalue(L, -2);
  return 2;
}

// `skip` results lie below those of the call; xpcall has its arguments there.
int continue_call(lua_State* L, int status, lua_KContext skip) {
  return finish_call(L, status, static_cast<int>(skip));
}

int protected_call(lua_State* L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  const int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, continue_call);
  return continue_call(L, status, 0);
}

// An error of the count hook reaches the handler while hooks are off, so a handler that does not
// return could not be stopped: once the script must end, handlers are not asked.
int handle_message(lua_State* L) {
  if (script_of(L).budget().exhausted()) return 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

int protected_call_with_handler(lua_State* L) {
  const int arguments = lua_gettop(L) - 2;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, handle_message, 1);
  lua_replace(L, 2);
  lua_pushboolean(L, 1);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 2);  // function, handler, true, function, arguments
  const int status = lua_pcallk(L, std::max(arguments, 0), LUA_MULTRET, 2, 2, continue_call);
  return continue_call(L, status, 2);
}

// load(chunk, name, mode, environment): text only, whatever mode says.
int load(lua_State* L, Script&) {
  const bool is_text = lua_isstring(L, 1) != 0;
  if (!is_text) luaL_checktype(L, 1, LUA_TFUNCTION);
  const bool has_environment = !lua_isnone(L, 4);
  lua_settop(L, 4);
  const std::string_view text = is_text ? check_text(L, 1) : std::string_view{};
  const char* const name = luaL_optstring(L, 2, is_text ? text.data() : "=(load)");
  constexpr int reader = 5;
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  if (load_text(L, text, name, 1, is_text ? 0 : reader) != LUA_OK) {
    luaL_pushfail(L);
    lua_insert(L, -2);
    return 2;
  }
  if (has_environment) {
    lua_pushvalue(L, 4);
    if (lua_setupvalue(L, -2, 1) == nullptr) lua_pop(L, 1);
  }
  return 1;
}

int set_metatable(lua_State* L, Script&) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
  if (lua_istable(L, 2)) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "scripts cannot have finalizers (__gc)");
    lua_pop(L, 1);
  }
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
    return luaL_error(L, "cannot change a protected metatable");
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

int collect_garbage(lua_State* L, Script&) {
  const std::string_view what = luaL_optstring(L, 1, "count");
  if (what != "count") return luaL_error(L, "collectgarbage can only count here");
  lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT) + lua_gc(L, LUA_GCCOUNTB) / 1024.0);
  return 1;
}

int print(lua_State* L, Script& script) {
  // Long lines are written in parts: the arguments may be the same large text many times.
  constexpr std::size_t part = std::size_t{64} << 10;
  std::string line;
  const int count = lua_gettop(L);
  for (int i = 1; i <= count; ++i) {
    std::size_t size = 0;
    const char* text = luaL_tolstring(L, i, &size);
    spend(L, size / 16);
    if (i > 1) line += '\t';
    if (line.size() + size > part) {
      script.print(L, line);
      line.clear();
    }
    if (size > part) {
      script.print(L, {text, size});
    } else {
      line.append(text, size);
    }
    lua_pop(L, 1);
  }
  script.print(L, line += '\n');
  return 0;
}

int now(lua_State* L, Script& script) {
  const auto time = script.services().executor->clock().now().time_since_epoch();
  lua_pushnumber(L, std::chrono::duration<double>(time).count());
  return 1;
}

void keep_only(lua_State* L, std::initializer_list<const char*> names) {
  lua_newtable(L);
  for (const char* name : names) {
    lua_getfield(L, -2, name);
    lua_setfield(L, -2, name);
  }
  lua_remove(L, -2);
}

/// Calls the stock function in its upvalue after charging for its text arguments.
int charged_call(lua_State* L) {
  std::uint64_t bytes = 0;
  for (int i = lua_gettop(L); i >= 1; --i)
    if (lua_type(L, i) == LUA_TSTRING) bytes += lua_rawlen(L, i);
  spend(L, bytes / 16);
  return call_stock(L);
}

void open_args(lua_State* L, const ScriptOptions& options) {
  lua_newtable(L);
  for (const auto& [name, value] : options.args) {
    push_text(L, name);
    if (lua_stringtonumber(L, value.c_str()) == 0) push_text(L, value);
    lua_settable(L, -3);
  }
  lua_setglobal(L, "args");
}

}  // namespace

int call_stock(lua_State* L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

void charge_for_text(lua_State* L, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, charged_call, 1);
    lua_setfield(L, -2, name);
  }
}

void open_sandbox(lua_State* L) {
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  for (const char* name : {"dofile", "loadfile"}) {
    lua_pushnil(L);
    lua_setfield(L, -2, name);
  }
  charge_for_text(L, {"tonumber", "tostring"});
  const luaL_Reg replaced[] = {{"pcall", protected_call},
                               {"xpcall", protected_call_with_handler},
                               {"load", function<load>},
                               {"setmetatable", function<set_metatable>},
                               {"collectgarbage", function<collect_garbage>},
                               {"print", function<print>},
                               {"now", function<now>},
                               {nullptr, nullptr}};
  luaL_setfuncs(L, replaced, 0);
  lua_pop(L, 1);

  luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
  lua_pop(L, 1);

  luaL_requiref(L, LUA_UTF8LIBNAME, luaopen_utf8, 1);
  charge_for_text(L, {"len", "codepoint", "offset", "codes"});
  lua_pop(L, 1);

  luaL_requiref(L, LUA_OSLIBNAME, luaopen_os, 0);
  keep_only(L, {"clock", "date", "difftime", "time"});
  charge_for_text(L, {"date"});
  lua_setglobal(L, LUA_OSLIBNAME);

  open_args(L, script_of(L).options());
}

}  // namespace stoker::script
