// Coroutines: Lua's own, but for create, resume and wrap. These charge for what the count hook
// misses (a coroutine counts its own instructions, and may end before its first count), and pass on
// that the script must end instead of returning it.

#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::script {
namespace {

int create(lua_State* L, Script&) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  spend(L, Budget::base_period);  // as much as it may run before its hook counts
  lua_State* coroutine = lua_newthread(L);
  install_hook(coroutine);
  lua_pushvalue(L, 1);
  lua_xmove(L, coroutine, 1);
  return 1;
}

/// Resumes with the `count` values at the top of L. The number of results, which are then at the
/// top of L, or -1 and the error there.
int resume_coroutine(lua_State* L, lua_State* coroutine, int count) {
  Script& script = script_of(L);
  const int period = script.budget().hook_period();
  if (period != lua_gethookcount(coroutine)) {
    // A shorter period must hold at once; what the coroutine ran since its last count is charged.
    install_hook(coroutine);
    spend(L, static_cast<std::uint64_t>(period));
  }
  spend(L, 250);  // about as long as that many instructions
  if (lua_checkstack(coroutine, count) == 0) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, coroutine, count);
  int results = 0;
  const int status = lua_resume(coroutine, L, count, &results);
  if (status == LUA_ERRMEM) script.budget().exhaust_memory();
  check_budget(L);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(coroutine, L, 1);
    return -1;
  }
  if (lua_checkstack(L, results + 1) == 0) {
    lua_pop(coroutine, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(coroutine, L, results);
  return results;
}

int resume(lua_State* L, Script&) {
  lua_State* coroutine = lua_tothread(L, 1);
  luaL_argexpected(L, coroutine != nullptr, 1, "coroutine");
  const int results = resume_coroutine(L, coroutine, lua_gettop(L) - 1);
  lua_pushboolean(L, results >= 0);
  if (results < 0) {
    lua_insert(L, -2);
    return 2;
  }
  lua_insert(L, -(results + 1));
  return results + 1;
}

int resume_wrapped(lua_State* L, Script&) {
  lua_State* coroutine = lua_tothread(L, lua_upvalueindex(1));
  const int results = resume_coroutine(L, coroutine, lua_gettop(L));
  if (results >= 0) return results;
  const int status = lua_status(coroutine);
  if (status != LUA_OK && status != LUA_YIELD) {
    // It died by an error: its pending variables are closed, and what that raises comes instead.
    if (lua_resetthread(coroutine) != LUA_OK) {
      lua_pop(L, 1);
      lua_xmove(coroutine, L, 1);
    }
    check_budget(L);
  }
  if (lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

int wrap(lua_State* L, Script& script) {
  create(L, script);
  lua_pushcclosure(L, function<resume_wrapped>, 1);
  return 1;
}

/// Calls the stock function in the upvalue, which may have caught something.
int close(lua_State* L, Script&) {
  check_budget(L);  // what it would close runs without hooks once the coroutine has died of one
  const int results = call_stock(L);
  check_budget(L);
  return results;
}

}  // namespace

void open_coroutines(lua_State* L) {
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
  const luaL_Reg replaced[] = {{"create", function<create>},
                               {"resume", function<resume>},
                               {"wrap", function<wrap>},
                               {nullptr, nullptr}};
  luaL_setfuncs(L, replaced, 0);
  lua_getfield(L, -1, "close");
  lua_pushcclosure(L, function<close>, 1);
  lua_setfield(L, -2, "close");
  lua_pop(L, 1);
}

}  // namespace stoker::script
