// Between Lua and C++: functions, errors and objects that cross.
//
// Lua is compiled as C++ here, so its errors are exceptions and destructors run. Rules for code
// called from Lua:
//   - write it as `int f(lua_State*, Script&)` and register it as function<f>: C++ exceptions then
//     become errors of the script, which know its line;
//   - never wait inside a catch block: the process may wake on another thread, and the C++ runtime
//     keeps the exception in flight per thread;
//   - loops whose length the script chooses call spend().
#pragma once

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/runtime/base/error.hpp"

namespace stoker::script {

class Script;

/// The script that a Lua state (or coroutine of it) belongs to.
[[nodiscard]] Script& script_of(lua_State* L) noexcept;
void set_script(lua_State* L, Script* script) noexcept;

/// Charges steps to the script's budget; raises when it is used up.
void spend(lua_State* L, std::uint64_t steps);
/// Raises if the script must end. After anything that catches errors.
void check_budget(lua_State* L);
/// The count hook.
void install_hook(lua_State* L);

/// Raises `error` as an error object, with the script's name and line added. Its texts count as the
/// script's memory for as long as the script keeps it.
[[noreturn]] void raise(lua_State* L, const Error& error);
/// The line the script is at, or 0.
[[nodiscard]] int current_line(lua_State* L);
/// The Error of an error value at the top of the stack: its own if it is an error object, else
/// script_error made of its text. `status` is what lua_pcall returned.
[[nodiscard]] Error error_at_top(lua_State* L, int status);
/// The message handler of the outermost call: makes an error object of whatever was raised.
int handle_error(lua_State* L);
/// Registers the error object's metatable.
void open_errors(lua_State* L);

/// Notes the coroutine that runs, for as long as it lives.
class Running {
 public:
  explicit Running(lua_State* L) noexcept;
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Script& script_;
  lua_State* const before_;
};

/// A C++ function as a lua_CFunction.
template <int (*Body)(lua_State*, Script&)> int function(lua_State* L) {
  const Running running{L};
  std::optional<Error> failure;
  try {
    return Body(L, script_of(L));
  } catch (const std::exception&) {  // Lua's own errors are no std::exception and pass
    failure = error_from_current_exception("script");
  }
  raise(L, *failure);
}

/// Raises the error of a failed Result, or returns its value.
template <class T> T value_or_raise(lua_State* L, Result<T> result) {
  if (result.has_error()) raise(L, result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Pushes a C++ object as full userdata. `type` names its metatable, which open_type() made.
template <class T, class... Args> T& push_object(lua_State* L, const char* type, Args&&... args) {
  static_assert(alignof(T) <= alignof(std::max_align_t));
  T* object = std::construct_at(static_cast<T*>(lua_newuserdatauv(L, sizeof(T), 0)),
                                std::forward<Args>(args)...);
  luaL_setmetatable(L, type);
  return *object;
}

/// The object at `index`, or null if something else is there.
template <class T> [[nodiscard]] T* test_object(lua_State* L, int index, const char* type) {
  return static_cast<T*>(luaL_testudata(L, index, type));
}

/// Pushes a new metatable for T with its finalizer; scripts can neither see nor replace it.
template <class T> void open_type(lua_State* L, const char* type) {
  luaL_newmetatable(L, type);
  lua_pushcfunction(L, [](lua_State* state) {
    std::destroy_at(static_cast<T*>(lua_touserdata(state, 1)));
    return 0;
  });
  lua_setfield(L, -2, "__gc");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
}

/// lua_load() of text (compiled chunks are refused). Between its parts the script may be told to end, so
/// that parsing takes no longer than the script may; each byte is charged `steps_per_byte`. `reader`: the
/// place on the stack of a function that gives more text, until it gives none; the next place is its.
[[nodiscard]] int load_text(lua_State* L, std::string_view text, const char* name,
                            std::uint64_t steps_per_byte, int reader = 0);

/// The text at `index` (a string or number argument); raises otherwise.
[[nodiscard]] std::string_view check_text(lua_State* L, int index);
inline void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

}  // namespace stoker::script
