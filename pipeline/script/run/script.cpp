#include "stoker/pipeline/script/run/script.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "stoker/runtime/observe/log.hpp"

namespace stoker::script {
namespace {

/// As luaO_chunkid does it for the names of files.
std::string shorten(std::string_view name) {
  constexpr std::size_t room = LUA_IDSIZE - 1;
  if (name.size() <= room) return std::string{name};
  return "..." + std::string{name.substr(name.size() - (room - 3))};
}

void* allocate(void* budget, void* block, std::size_t before, std::size_t after) {
  return static_cast<Budget*>(budget)->reallocate(block, before, after);
}

/// warn(): what the script wants its operator to read. As a field of one kind of lines: else each text
/// would have a limit of its own, and one with line breaks would look like lines of others.
void log_warning(void* script, const char* text, int) {
  constexpr std::size_t longest =
      4096;  // the log makes copies, which are not on the script's account
  log_warn("a script warns", {{"script", static_cast<const Script*>(script)->source().name},
                              {"warning", std::string{text, strnlen(text, longest)}}});
}

/// As Lua reads files: without the mark that some editors put before UTF-8, and without a first line for
/// the shell, "#!/usr/bin/env -S stoker run".
std::string_view lua_text(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!text.starts_with('#')) return text;
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? std::string_view{} : text.substr(end);
}

/// Nested too deep, a text overflows a stack of Lua's, which is no syntax error to it.
Error unreadable(const Error& error) {
  if (error.code() != ErrorCode::script_error) return error;
  return {"script",
          ErrorCode::compile_failed,
          std::string{error.reason()},
          {error.details().begin(), error.details().end()}};
}

/// Calls what the program added; what it throws becomes the script's error.
template <class F> void call_extension(lua_State* L, const F& call) {
  std::optional<Error> failure;
  try {
    call();
    return;
  } catch (const std::exception&) {  // Lua's own errors are no std::exception and pass
    failure = error_from_current_exception("script");
  }
  raise(L, *failure);
}

struct Closer {
  void operator()(lua_State* L) const noexcept { lua_close(L); }
};

}  // namespace

Script::Script(const Services& services, ScriptSource source, ScriptOptions options,
               AllowedPaths paths, CancelToken cancel)
    : services_{services},
      source_{std::move(source)},
      options_{std::move(options)},
      paths_{std::move(paths)},
      short_name_{shorten(source_.name)},
      budget_{options_.limits, std::move(cancel)},
      evaluator_{services.device, budget_, *this, options_.observer.get()} {}

int Script::main_chunk(lua_State* L) {
  Script& script = script_of(L);
  lua_gc(L, LUA_GCSTOP);
  open_errors(L);
  open_sandbox(L);
  open_coroutines(L);
  open_strings(L);
  open_tables(L);
  open_buffers(L);
  open_operations(L);
  open_images(L);
  if (ScriptExtension* const kernels = script.options_.kernels.get(); kernels != nullptr)
    call_extension(L, [&] { kernels->open(L); });
  ScriptExtension* const extension = script.options_.extension.get();
  if (extension != nullptr) call_extension(L, [&] { extension->open(L); });
  const int bottom = lua_gettop(L);
  // Lua's hashes differ from run to run, and with them what the tables above took to fill. From here
  // on the same script costs the same.
  lua_gc(L, LUA_GCRESTART);
  script.budget_.restart();

  const std::string chunk = "@" + script.source_.name;
  const int status = load_text(L, lua_text(script.source_.text), chunk.c_str(), 0);
  if (status != LUA_OK) raise(L, unreadable(error_at_top(L, status)));
  install_hook(L);
  lua_call(L, 0, extension != nullptr ? LUA_MULTRET : 0);
  if (extension != nullptr) call_extension(L, [&] { extension->on_returned(L, bottom + 1); });
  return 0;
}

Result<void> Script::execute(lua_State* L) {
  set_script(L, this);
  running_ = L;
  lua_setwarnf(L, log_warning, this);
  lua_pushcfunction(L, handle_error);
  lua_pushcfunction(L, main_chunk);
  const int status = lua_pcall(L, 0, 0, 1);
  if (status == LUA_OK && !budget_.exhausted()) return {};
  // Looking at the error may raise again: the hook of an exhausted script stays.
  lua_sethook(L, nullptr, 0, 0);
  if (status == LUA_OK) return budget_.why();
  const Error error = error_at_top(L, status);
  if (budget_.exhausted() && error.code() != budget_.why().code())
    return budget_.why().with("script", source_.name);
  return error;
}

Result<ScriptReport> Script::run() {
  const std::unique_ptr<lua_State, Closer> state{lua_newstate(allocate, &budget_)};
  if (state == nullptr)
    return Error{"script",
                 ErrorCode::budget_exceeded,
                 "the memory limit is too small for a Lua state",
                 {{"limit", std::to_string(options_.limits.memory_bytes)}}};
  Result<void> outcome = execute(state.get());
  if (outcome) outcome = evaluator_.finish();
  if (!outcome) {
    evaluator_.abandon(outcome.error());
    return outcome.error();
  }
  ScriptReport report = evaluator_.report();
  report.instructions = budget_.steps();
  report.peak_memory_bytes = budget_.peak_memory();
  return report;
}

void Script::print(lua_State* L, std::string_view text) {
  if (options_.observer) {
    if (options_.observer->keeps_text()) value_or_raise(L, evaluator_.take_memory(text.size()));
    options_.observer->on_print(text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

void Script::step(std::size_t bytes) {
  const std::size_t kibibytes = std::min<std::size_t>(bytes >> 10, 1 << 20);
  lua_gc(running_, LUA_GCSTEP, static_cast<int>(kibibytes));
}

void Script::collect() { lua_gc(running_, LUA_GCCOLLECT); }

}  // namespace stoker::script
