// Every kernel and every operation on tensors as a function: `gaussian_blur(photo, {radius = 3})`. A name that
// Lua's own libraries have taken is reached through the table `kernels`, or as a method of a buffer.

#include <algorithm>

#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/library/buffer_values.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::script {
namespace {

constexpr const char* functions_key = "stoker.kernels";
constexpr std::size_t longest_text = 4096;

Params check_params(lua_State* L, int index, const std::string& op) {
  constexpr std::size_t most = 256;
  Params params;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    spend(L, 4);
    if (lua_type(L, -2) != LUA_TSTRING || lua_rawlen(L, -2) > longest_text ||
        params.entries().size() == most)
      raise(L, Error{op, ErrorCode::invalid_parameter, "options are written {name = value, …}"});
    const std::string_view name = check_text(L, -2);
    params.set(name, check_option(L, lua_gettop(L), op, name));
    lua_pop(L, 1);
  }
  return params;
}

/// As everywhere in Lua, a number is accepted where any text is: norm(x, {ord = math.huge}).
void write_numbers_as_text(const Operation& operation, Params& options) {
  for (const ParamSpec& spec : operation.params) {
    if (spec.type != ParamType::text || !spec.choices.empty()) continue;
    const ParamValue* const value = options.find(spec.name);
    if (value == nullptr) continue;
    if (std::holds_alternative<std::int64_t>(*value) || std::holds_alternative<double>(*value))
      options.set(spec.name, to_string(*value));
  }
}

[[noreturn]] void refuse_argument(lua_State* L, int index, int number, const std::string& op) {
  const bool misplaced = lua_istable(L, index);
  raise(L, Error{op,
                 ErrorCode::invalid_argument,
                 "argument " + std::to_string(number) +
                     (misplaced ? " is a table, but options come last; make buffers with buffer()"
                                : std::string{" must be a buffer, not "} + luaL_typename(L, index)),
                 {{"kernel", op}}});
}

/// The number at `index`, in the dtype of its neighbours.
expr::Value number_at(lua_State* L, int index, DType dtype) {
  const DType part = is_complex(dtype) ? component_of(dtype) : dtype;
  std::vector<std::byte> bytes = read_elements(L, index, part).bytes;
  bytes.resize(size_of(dtype));  // it has no imaginary part
  return value_or_raise(L, script_of(L).evaluator().number({dtype, {}}, bytes));
}

/// The values from stack index `first` to `last`. Numbers take the dtype of the first buffer that is no
/// condition.
std::vector<expr::Value> check_inputs(lua_State* L, int first, int last,
                                      const Operation& operation) {
  const int beside = first + static_cast<int>(operation.conditions);
  DType dtype = DType::f32;
  for (int i = last; i >= beside; --i)
    if (const expr::Value* value = test_buffer(L, i)) dtype = value->dtype();
  std::vector<expr::Value> inputs;
  for (int i = first; i <= last; ++i) {
    if (const expr::Value* value = test_buffer(L, i)) {
      inputs.push_back(*value);
    } else if (lua_type(L, i) == LUA_TNUMBER) {
      inputs.push_back(number_at(L, i, dtype));
    } else {
      refuse_argument(L, i, i - first + 1, operation.name);
    }
  }
  return inputs;
}

int call_upvalue(lua_State* L, Script&) {
  const auto* operation = static_cast<const Operation*>(lua_touserdata(L, lua_upvalueindex(1)));
  return call_operation(L, *operation, 1);
}

/// kernel{…} of scripts whose host lets them define none.
int refuse_definition(lua_State* L, Script&) {
  raise(L,
        Error{"kernel", ErrorCode::permission_denied,
              "this program lets its scripts define no kernels; a function of buffers needs none: "
              "its operations become one kernel by themselves"});
}

void add_function(lua_State* L, const std::string& name) {
  if (lua_getglobal(L, name.c_str()) == LUA_TNIL) {
    lua_pushvalue(L, -2);
    lua_setglobal(L, name.c_str());
  }
  lua_pop(L, 1);
  lua_setfield(L, -2, name.c_str());
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

CallArguments check_arguments(lua_State* L, const Operation& operation, int first) {
  CallArguments arguments;
  int last = lua_gettop(L);
  if (last >= first && lua_istable(L, last)) {
    arguments.options = check_params(L, last--, operation.name);
    write_numbers_as_text(operation, arguments.options);
  }
  arguments.inputs = check_inputs(L, first, last, operation);
  return arguments;
}

std::vector<expr::Value> make_call(lua_State* L, const Operation& operation,
                                   const CallArguments& arguments) {
  Evaluator& evaluator = script_of(L).evaluator();
  const std::vector<expr::Value>& inputs = arguments.inputs;
  const std::function holding = [&](const TensorSpec& spec, std::span<const std::byte> bytes) {
    return evaluator.number(spec, bytes).value();
  };
  const auto made = evaluator.call(operation.name, current_line(L), inputs, [&] {
    const auto params = ParamSet::resolve(operation.name, operation.params, arguments.options);
    return operation.apply({inputs, params.value(), holding});
  });
  std::vector<expr::Value> outputs = value_or_raise(L, made);
  spend(L, 400);  // about as long as that many instructions
  return outputs;
}

int push_outputs(lua_State* L, const std::vector<expr::Value>& outputs) {
  luaL_checkstack(L, static_cast<int>(outputs.size()), "too many outputs");
  for (const expr::Value& output : outputs) push_buffer(L, output);
  return static_cast<int>(outputs.size());
}

int call_operation(lua_State* L, const Operation& operation, int first) {
  return push_outputs(L, make_call(L, operation, check_arguments(L, operation, first)));
}

void push_function(lua_State* L, std::string_view name) {
  lua_getfield(L, LUA_REGISTRYINDEX, functions_key);
  push_text(L, name);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

bool is_taken(lua_State* L, std::string_view name) {
  push_function(L, name);
  const bool is_function = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return is_function || is_field(name);
}

void add_method(lua_State* L, std::string_view name) {
  lua_getfield(L, LUA_REGISTRYINDEX, functions_key);
  push_text(L, name);
  lua_pushvalue(L, -3);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

std::string suggestion(lua_State* L, std::string_view name) {
  std::vector<std::string_view> known{"args",    "buffer", "image", "kernel",
                                      "kernels", "print",  "read",  "wait"};
  const std::size_t others = known.size();
  lua_getfield(L, LUA_REGISTRYINDEX, functions_key);  // its keys outlive the name
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    known.push_back(check_text(L, -1));
  }
  lua_pop(L, 1);
  std::sort(known.begin() + static_cast<std::ptrdiff_t>(others), known.end());  // not Lua's order
  return did_you_mean(name, known);
}

void open_operations(lua_State* L) {
  lua_pushcfunction(L, function<refuse_definition>);
  lua_setglobal(L, "kernel");
  lua_newtable(L);
  for (const auto& [name, operation] : script_of(L).services().operations->names()) {
    lua_pushlightuserdata(L, const_cast<Operation*>(operation));
    lua_pushcclosure(L, function<call_upvalue>, 1);
    add_function(L, name);
  }
  lua_pushcfunction(L, function<slice>);
  add_function(L, "slice");
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
