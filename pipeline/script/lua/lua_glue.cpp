#include "stoker/pipeline/script/lua/lua_glue.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker::script {
namespace {

constexpr const char* error_type = "stoker.error";

/// An error as the script has it, with what it takes on the script's account.
struct RaisedError {
  RaisedError(Error what, Budget& account, std::size_t bytes) noexcept
      : error{std::move(what)}, loan{account, bytes} {}
  Error error;
  MemoryLoan loan;
};

std::size_t bytes_of(const Error& error) {
  std::size_t bytes = 256 + error.op().size() + 2 * error.reason().size();
  for (const Detail& detail : error.details())
    bytes += sizeof detail + 2 * (detail.key.size() + detail.value.size());
  return bytes;
}

/// Pushes the error, or that there is no memory for it.
void push_error(lua_State* L, const Error& error) {
  Script& script = script_of(L);
  Budget& budget = script.budget();
  const std::size_t bytes = bytes_of(error);
  const bool charged = !budget.exhausted() && script.evaluator().take_memory(bytes).has_value();
  const bool refused = !charged && error.code() != budget.why().code();
  push_object<RaisedError>(L, error_type, refused ? budget.why() : error, budget,
                           charged ? bytes : 0);
}

const Error* test_error(lua_State* L, int index) {
  const auto* raised = test_object<RaisedError>(L, index, error_type);
  return raised != nullptr ? &raised->error : nullptr;
}

const Error& check_error(lua_State* L, int index) {
  return static_cast<RaisedError*>(luaL_checkudata(L, index, error_type))->error;
}

[[noreturn]] void raise_exhausted(lua_State* L) {
  install_hook(L);  // fires at every instruction from now on
  raise(L, script_of(L).budget().why());
}

/// The executor may be a host's event loop, so long scripts give way.
void give_way(Budget& budget) {
  if (!budget.turn_is_over()) return;
  const Budget::Away away{budget};
  this_process::yield();
  budget.begin_turn();
}

void count_hook(lua_State* L, lua_Debug*) {
  Budget& budget = script_of(L).budget();
  const int period = lua_gethookcount(L);
  if (!budget.count(static_cast<std::uint64_t>(period))) raise_exhausted(L);
  if (budget.hook_period() != period) install_hook(L);
  give_way(budget);
}

/// "name:12: text" as Lua writes it: the line, and `text` without the position.
std::optional<int> take_position(std::string_view name, std::string_view& text) {
  if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != ':')
    return std::nullopt;
  const char* const end = text.data() + text.size();
  int line = 0;
  const auto [rest, failure] = std::from_chars(text.data() + name.size() + 1, end, line);
  if (failure != std::errc{} || end - rest < 2 || rest[0] != ':' || rest[1] != ' ')
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest + 2 - text.data()));
  return line;
}

/// For a call of a name that nothing has, as Lua words it: what may have been meant.
std::string hint(lua_State* L, std::string_view text) {
  constexpr std::string_view before = "attempt to call a nil value (global '";
  constexpr std::string_view after = "')";
  if (!text.starts_with(before) || !text.ends_with(after)) return {};
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  return suggestion(L, text);
}

Error with_position(const Error& error, const Script& script, int line) {
  // A script may have no name.
  if (std::ranges::any_of(error.details(), [](const Detail& one) { return one.key == "script"; }))
    return error;
  Error placed = error.with("script", script.source().name);
  return line > 0 && error.detail("line").empty() ? placed.with("line", std::to_string(line))
                                                  : placed;
}

/// What the script would read on its terminal: "demo.lua:3: matmul: …".
std::string describe(const Error& error) {
  std::string text;
  if (!error.detail("script").empty()) text.append(error.detail("script")).append(":");
  if (!error.detail("line").empty()) text.append(error.detail("line")).append(":");
  if (!text.empty()) text += ' ';
  if (error.op() != "script") text.append(error.op()).append(": ");
  return text.append(error.reason());
}

int error_text(lua_State* L, Script&) {
  push_text(L, describe(check_error(L, 1)));
  return 1;
}

int error_concat(lua_State* L, Script&) {
  luaL_tolstring(L, 1, nullptr);
  luaL_tolstring(L, 2, nullptr);
  lua_concat(L, 2);
  return 1;
}

int error_field(lua_State* L, Script&) {
  const Error& error = check_error(L, 1);
  const std::string_view key = check_text(L, 2);
  if (key == "code")
    push_text(L, to_string(error.code()));
  else if (key == "op")
    push_text(L, error.op());
  else if (key == "reason")
    push_text(L, error.reason());
  else if (key == "retryable")
    lua_pushboolean(L, error.retryable());
  else if (const std::string_view detail = error.detail(key); detail.empty())
    lua_pushnil(L);
  else if (key == "line")
    lua_pushinteger(L, std::atoi(std::string{detail}.c_str()));
  else
    push_text(L, detail);
  return 1;
}

}  // namespace

Script& script_of(lua_State* L) noexcept { return **static_cast<Script**>(lua_getextraspace(L)); }

void set_script(lua_State* L, Script* script) noexcept {
  *static_cast<Script**>(lua_getextraspace(L)) = script;
}

Running::Running(lua_State* L) noexcept : script_{script_of(L)}, before_{script_.set_running(L)} {}
Running::~Running() { static_cast<void>(script_.set_running(before_)); }

void spend(lua_State* L, std::uint64_t steps) {
  Budget& budget = script_of(L).budget();
  if (!budget.spend(steps)) raise_exhausted(L);
  give_way(budget);
}

void check_budget(lua_State* L) { spend(L, 0); }

void install_hook(lua_State* L) {
  lua_sethook(L, count_hook, LUA_MASKCOUNT, script_of(L).budget().hook_period());
}

int current_line(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "l", &frame);
    if (frame.currentline > 0) return frame.currentline;
  }
  return 0;
}

void raise(lua_State* L, const Error& error) {
  push_error(L, with_position(error, script_of(L), current_line(L)));
  lua_error(L);
  throw error;  // not reached: lua_error throws
}

Error error_at_top(lua_State* L, int status) {
  const Script& script = script_of(L);
  if (const Error* own = test_error(L, -1)) return *own;
  if (status == LUA_ERRMEM) {
    script_of(L).budget().exhaust_memory();
    return with_position(script_of(L).budget().why(), script, 0);
  }
  std::size_t size = 0;
  const char* data = lua_tolstring(L, -1, &size);
  std::string_view text =
      data != nullptr ? std::string_view{data, size} : std::string_view{"an error without text"};
  constexpr std::size_t longest = std::size_t{16} << 10;  // a script may raise a text of any size
  text = text.substr(0, longest);
  const std::optional<int> line = take_position(script.short_name(), text);
  const ErrorCode code =
      status == LUA_ERRSYNTAX ? ErrorCode::compile_failed : ErrorCode::script_error;
  return with_position(Error{"script", code, std::string{text} + hint(L, text)}, script,
                       line.value_or(current_line(L)));
}

int handle_error(lua_State* L) {
  if (test_error(L, 1) != nullptr) return 1;
  if (lua_type(L, 1) != LUA_TSTRING) {
    if (luaL_callmeta(L, 1, "__tostring") == 0 || lua_type(L, -1) != LUA_TSTRING)
      push_text(L, "an error that is " + value_text(L, 1));
  }
  push_error(L, error_at_top(L, LUA_ERRRUN));
  return 1;
}

void open_errors(lua_State* L) {
  open_type<RaisedError>(L, error_type);
  lua_pushcfunction(L, function<error_text>);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, function<error_concat>);
  lua_setfield(L, -2, "__concat");
  lua_pushcfunction(L, function<error_field>);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

namespace {

struct Parts {
  std::string_view rest;
  std::uint64_t steps_per_byte;
  int reader;
};

/// What the reader gives next, kept behind it; nothing at its end.
std::string_view more_text(lua_State* L, int reader) {
  lua_pushvalue(L, reader);
  lua_call(L, 0, 1);
  lua_replace(L, reader + 1);
  if (lua_isnil(L, reader + 1)) return {};
  if (lua_isstring(L, reader + 1) == 0) luaL_error(L, "reader function must return a string");
  return check_text(L, reader + 1);
}

const char* next_part(lua_State* L, void* parts, std::size_t* size) {
  auto& [rest, steps_per_byte, reader] = *static_cast<Parts*>(parts);
  if (rest.empty() && reader != 0) rest = more_text(L, reader);
  *size = std::min(rest.size(), std::size_t{16} << 10);
  spend(L, *size * steps_per_byte);
  const char* const part = rest.data();
  rest.remove_prefix(*size);
  return part;
}

}  // namespace

int load_text(lua_State* L, std::string_view text, const char* name, std::uint64_t steps_per_byte,
              int reader) {
  Parts parts{text, steps_per_byte, reader};
  const int status = lua_load(L, next_part, &parts, name, "t");
  check_budget(L);  // what the reader raises is caught inside
  return status;
}

std::string_view check_text(lua_State* L, int index) {
  std::size_t size = 0;
  const char* data = luaL_checklstring(L, index, &size);
  return {data, size};
}

}  // namespace stoker::script
