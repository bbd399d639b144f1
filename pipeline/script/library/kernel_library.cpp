// Every kernel as a function: `gaussian_blur(photo, {radius = 3})`. A name that Lua's own libraries
// have taken is reached through the table `kernels`, or as a method of a buffer.

#include <algorithm>

#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/library/buffer_values.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::script {
namespace {

constexpr const char* functions_key = "stoker.kernels";
constexpr std::size_t longest_text = 4096;

Params check_params(lua_State* L, int index, const Kernel& kernel) {
  constexpr std::size_t most = 256;
  Params params;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    spend(L, 4);
    if (lua_type(L, -2) != LUA_TSTRING || lua_rawlen(L, -2) > longest_text ||
        params.entries().size() == most)
      raise(L, Error{kernel.name, ErrorCode::invalid_parameter,
                     "options are written {name = value, …}"});
    const std::string_view name = check_text(L, -2);
    params.set(name, check_option(L, lua_gettop(L), kernel.name, name));
    lua_pop(L, 1);
  }
  return params;
}

[[noreturn]] void refuse_argument(lua_State* L, int index, int number, const Kernel& kernel) {
  const bool misplaced = lua_istable(L, index);
  raise(L, Error{kernel.name,
                 ErrorCode::invalid_argument,
                 "argument " + std::to_string(number) +
                     (misplaced ? " is a table, but options come last; make buffers with buffer()"
                                : std::string{" must be a buffer, not "} + luaL_typename(L, index)),
                 {{"kernel", kernel.name}}});
}

int call_upvalue(lua_State* L, Script& script) {
  const auto index = static_cast<std::size_t>(lua_tointeger(L, lua_upvalueindex(1)));
  return call_kernel(L, script.services().kernels[index], 1);
}

}  // namespace

ParamValue check_option(lua_State* L, int index, std::string_view op, std::string_view name) {
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: return lua_toboolean(L, index) != 0;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index) != 0) return static_cast<std::int64_t>(lua_tointeger(L, index));
      return static_cast<double>(lua_tonumber(L, index));
    case LUA_TSTRING:
      if (lua_rawlen(L, index) <= longest_text) return std::string{check_text(L, index)};
      break;
    case LUA_TTABLE: return check_integers(L, index, op, name);
    default: break;
  }
  raise(L, Error{std::string{op},
                 ErrorCode::invalid_parameter,
                 "an option must be a number, a text, true or false, or a list of integers",
                 {{"parameter", std::string{name}}, {"got", luaL_typename(L, index)}}});
}

int call_kernel(lua_State* L, const std::shared_ptr<const Kernel>& kernel, int first) {
  Evaluator& evaluator = script_of(L).evaluator();
  int last = lua_gettop(L);
  Params params;
  if (last >= first && lua_istable(L, last)) params = check_params(L, last--, *kernel);

  DType dtype = DType::f32;
  for (int i = last; i >= first; --i)
    if (const LazyPtr* value = test_buffer(L, i)) dtype = (*value)->spec.dtype;
  std::vector<LazyPtr> inputs;
  for (int i = first; i <= last; ++i) {
    if (const LazyPtr* value = test_buffer(L, i)) {
      inputs.push_back(*value);
    } else if (lua_type(L, i) == LUA_TNUMBER) {
      inputs.push_back(
          value_or_raise(L, evaluator.scalar(dtype, read_elements(L, i, dtype).bytes)));
    } else {
      refuse_argument(L, i, i - first + 1, *kernel);
    }
  }
  auto outputs = value_or_raise(
      L, evaluator.call(kernel, std::move(inputs), std::move(params), current_line(L)));
  spend(L, 400);  // about as long as that many instructions
  luaL_checkstack(L, static_cast<int>(outputs.size()), "too many outputs");
  for (LazyPtr& output : outputs) push_buffer(L, std::move(output));
  return static_cast<int>(outputs.size());
}

void push_kernel_function(lua_State* L, std::string_view name) {
  lua_getfield(L, LUA_REGISTRYINDEX, functions_key);
  push_text(L, name);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

std::string suggestion(lua_State* L, std::string_view name) {
  std::vector<std::string_view> known{"args",  "buffer", "image", "kernels",
                                      "print", "read",   "wait"};
  for (const auto& kernel : script_of(L).services().kernels) {
    known.emplace_back(kernel->name);
    known.insert(known.end(), kernel->aliases.begin(), kernel->aliases.end());
  }
  const auto nearest = nearest_name(name, known);
  return nearest ? "; did you mean '" + std::string{*nearest} + "'?" : std::string{};
}

std::shared_ptr<const Kernel> find_kernel(lua_State* L, std::string_view name) {
  for (const auto& kernel : script_of(L).services().kernels)
    if (kernel->name == name || std::ranges::find(kernel->aliases, name) != kernel->aliases.end())
      return kernel;
  return nullptr;
}

void open_kernels(lua_State* L) {
  const auto& kernels = script_of(L).services().kernels;
  lua_newtable(L);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto add = [&](const std::string& name) {
      lua_pushinteger(L, static_cast<lua_Integer>(i));
      lua_pushcclosure(L, function<call_upvalue>, 1);
      if (lua_getglobal(L, name.c_str()) == LUA_TNIL) {
        lua_pushvalue(L, -2);
        lua_setglobal(L, name.c_str());
      }
      lua_pop(L, 1);
      lua_setfield(L, -2, name.c_str());
    };
    add(kernels[i]->name);
    for (const std::string& alias : kernels[i]->aliases) add(alias);
  }
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, functions_key);
  // Scripts get a copy: what they do to it must not reach the methods of buffers.
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, -3) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_settable(L, -4);
  }
  lua_setglobal(L, "kernels");
  lua_pop(L, 1);
}

}  // namespace stoker::script
