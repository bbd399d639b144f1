#include "stoker/api/script/kernel_table.hpp"

#include <map>
#include <variant>

#include "stoker/kernels/shader/shader_names.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::script {
namespace {

// Of buffers and of parameters: names are pushed with each dispatch.
constexpr std::size_t most_names = 32;
constexpr std::size_t longest_name = 4096;

/// What is at `index` is not what `what` must be.
[[noreturn]] void refuse(lua_State* L, int index, const std::string& what,
                         const std::string& expected) {
  raise(L, Error{define_op,
                 ErrorCode::invalid_parameter,
                 what + " must be " + expected,
                 {{"parameter", what}, {"got", value_text(L, index)}}});
}

/// Pushes a field of the table at `table`, and says its type.
int push_field(lua_State* L, int table, const char* key) {
  lua_pushstring(L, key);
  return lua_rawget(L, table);
}

/// Whether a table has what is at 1 … its length, and nothing else.
bool is_list(lua_State* L, int index) {
  lua_Unsigned count = 0;
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1))
    if (++count > lua_rawlen(L, index)) {
      lua_pop(L, 2);
      return false;
    }
  return count == lua_rawlen(L, index);
}

/// The text at the top of the stack.
std::string text_at_top(lua_State* L, const std::string& what, std::size_t longest) {
  if (lua_type(L, -1) != LUA_TSTRING) refuse(L, lua_gettop(L), what, "a text");
  std::string text{check_text(L, -1)};
  if (text.size() > longest)
    raise(L, Error{define_op,
                   ErrorCode::limit_exceeded,
                   what + " has more than " + std::to_string(longest) + " bytes",
                   {{"limit", std::to_string(longest)}, {"got", std::to_string(text.size())}}});
  return text;
}

/// Calls one(what) with each element of the list `key` on top of the stack. False: there is no such field.
template <class One> bool each(lua_State* L, int table, const char* key, const One& one) {
  const bool is_given = push_field(L, table, key) != LUA_TNIL;
  if (is_given) {
    const int list = lua_gettop(L);
    if (!lua_istable(L, list) || lua_rawlen(L, list) > most_names || !is_list(L, list))
      refuse(L, list, key, "a list of at most " + std::to_string(most_names) + ", without gaps");
    const std::size_t count = lua_rawlen(L, list);
    spend(L, 20 * count);
    for (std::size_t i = 1; i <= count; ++i) {
      lua_rawgeti(L, list, static_cast<lua_Integer>(i));
      one(std::string{key} + "[" + std::to_string(i) + "]");
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return is_given;
}

/// "x", or {"x", "s32"} with a type.
KernelBuffer buffer_at_top(lua_State* L, const std::string& what) {
  if (!lua_istable(L, -1)) return {text_at_top(L, what, longest_name)};
  const int pair = lua_gettop(L);
  if (lua_rawlen(L, pair) != 2 || !is_list(L, pair))
    refuse(L, pair, what, "a name, or {name, type}");
  lua_rawgeti(L, pair, 1);
  KernelBuffer buffer{text_at_top(L, what, longest_name)};
  lua_rawgeti(L, pair, 2);
  buffer.type = text_at_top(L, what, longest_name);
  lua_pop(L, 2);
  if (buffer.type != "T" && !parse_dtype(buffer.type))
    raise(L, no_such_dtype(define_op, buffer.type));
  return buffer;
}

/// As they are where the table says nothing.
void check_buffers(lua_State* L, int table, const char* key, std::vector<KernelBuffer>& buffers) {
  std::vector<KernelBuffer> given;
  if (each(L, table, key,
           [&](const std::string& what) { given.push_back(buffer_at_top(L, what)); }))
    buffers = std::move(given);
}

/// A parameter by its default, or by the name of its type: then every call gives it.
ParamSpec param_at_top(lua_State* L, std::string name) {
  ParamSpec spec;
  spec.name = std::move(name);
  switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
      spec.type = ParamType::boolean;
      spec.fallback = ParamValue{lua_toboolean(L, -1) != 0};
      return spec;
    case LUA_TNUMBER:
      spec.type = lua_isinteger(L, -1) != 0 ? ParamType::integer : ParamType::real;
      if (spec.type == ParamType::integer)
        spec.fallback = ParamValue{static_cast<std::int64_t>(lua_tointeger(L, -1))};
      else
        spec.fallback = ParamValue{static_cast<double>(lua_tonumber(L, -1))};
      return spec;
    case LUA_TSTRING:
      for (const ParamType type : {ParamType::boolean, ParamType::integer, ParamType::real})
        if (check_text(L, -1) == to_string(type)) {
          spec.type = type;
          return spec;
        }
      break;
    default: break;
  }
  refuse(L, lua_gettop(L), "params." + spec.name,
         "a default (a number, true or false), or what every call gives: \"real\", \"integer\" or "
         "\"boolean\"");
}

/// By name: a table of Lua's has no order.
void check_params(lua_State* L, int table, std::vector<ParamSpec>& specs) {
  std::map<std::string, ParamSpec> by_name;
  if (push_field(L, table, "params") != LUA_TNIL) {
    const int params = lua_gettop(L);
    if (!lua_istable(L, params)) refuse(L, params, "params", "a table {name = default, …}");
    lua_pushnil(L);
    while (lua_next(L, params) != 0) {
      spend(L, 20);
      if (lua_type(L, -2) != LUA_TSTRING || lua_rawlen(L, -2) > longest_name ||
          by_name.size() == most_names)
        refuse(L, params, "params",
               "a table {name = default, …} of at most " + std::to_string(most_names));
      const std::string name{check_text(L, -2)};
      by_name.emplace(name, param_at_top(L, name));
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  for (auto& [name, spec] : by_name) specs.push_back(std::move(spec));
}

void check_dtypes(lua_State* L, int table, std::vector<DType>& dtypes) {
  std::vector<DType> given;
  const auto one = [&](const std::string& what) {
    const std::string name = text_at_top(L, what, longest_name);
    const std::optional<DType> dtype = parse_dtype(name);
    if (!dtype) raise(L, no_such_dtype(define_op, name));
    given.push_back(*dtype);
  };
  if (each(L, table, "dtypes", one)) dtypes = std::move(given);
}

/// The shape of one output: that of an input, or one that is always the same.
using ShapeRule = std::variant<std::size_t, Shape>;

ShapeRule rule_at_top(lua_State* L, const std::string& what,
                      const std::vector<KernelBuffer>& inputs) {
  if (lua_istable(L, -1))
    return value_or_raise(
        L, Shape::try_make(check_integers(L, lua_gettop(L), define_op, what), define_op));
  const std::string name = text_at_top(L, what, longest_name);
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return i;
    known.emplace_back(inputs[i].name);
  }
  raise(L, Error{define_op, ErrorCode::invalid_parameter,
                 what + ": no input is named '" + name.substr(0, 64) + "'" +
                     did_you_mean(name, known)});
}

/// Its rules, which the function hides.
std::vector<ShapeRule> check_shapes(lua_State* L, int table, KernelSpec& spec) {
  std::vector<ShapeRule> rules;
  const auto one = [&](const std::string& what) {
    rules.push_back(rule_at_top(L, what, spec.inputs));
  };
  if (!each(L, table, "shapes", one)) return {};
  if (rules.size() != spec.outputs.size())
    raise(L, Error{define_op,
                   ErrorCode::arity_mismatch,
                   "`shapes` says " + std::to_string(rules.size()) + " shapes for " +
                       std::to_string(spec.outputs.size()) + " outputs",
                   {{"expected", std::to_string(spec.outputs.size())},
                    {"got", std::to_string(rules.size())}}});
  spec.shapes = [rules](const KernelCall& call) -> Result<std::vector<Shape>> {
    std::vector<Shape> shapes;
    for (const ShapeRule& rule : rules) {
      const auto* input = std::get_if<std::size_t>(&rule);
      shapes.push_back(input ? call.shape(*input) : std::get<Shape>(rule));
    }
    return shapes;
  };
  return rules;
}

void check_local_size(lua_State* L, int table, std::uint32_t& size) {
  if (push_field(L, table, "local_size") != LUA_TNIL) {
    constexpr lua_Integer most = 1024;
    if (lua_isinteger(L, -1) == 0 || lua_tointeger(L, -1) < 1 || lua_tointeger(L, -1) > most)
      refuse(L, lua_gettop(L), "local_size", "an integer from 1 to " + std::to_string(most));
    size = static_cast<std::uint32_t>(lua_tointeger(L, -1));
  }
  lua_pop(L, 1);
}

/// Parts one after the other, each with its length.
class Identity {
 public:
  Identity& add(std::string_view part) {
    text_ += std::to_string(part.size());
    text_ += ':';
    text_ += part;
    return *this;
  }
  template <class T> Identity& add_number(T value) {
    return add({reinterpret_cast<const char*>(&value), sizeof value});
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string identity_of(const KernelSpec& spec, const std::vector<ShapeRule>& rules) {
  Identity identity;
  identity.add(spec.name).add(spec.summary).add(spec.glsl.text());
  identity.add_number(spec.local_size[0]).add_number(spec.uses_subgroups);
  for (const auto* buffers : {&spec.inputs, &spec.outputs}) {
    identity.add_number(buffers->size());
    for (const KernelBuffer& buffer : *buffers) identity.add(buffer.name).add(buffer.type);
  }
  identity.add_number(spec.dtypes.size());
  for (const DType dtype : spec.dtypes) identity.add_number(dtype);
  identity.add_number(spec.params.size());
  for (const ParamSpec& param : spec.params) {
    identity.add(param.name).add_number(param.type).add_number(param.fallback.has_value());
    if (!param.fallback) continue;
    if (const auto* real = std::get_if<double>(&*param.fallback)) identity.add_number(*real);
    if (const auto* whole = std::get_if<std::int64_t>(&*param.fallback))
      identity.add_number(*whole);
    if (const auto* flag = std::get_if<bool>(&*param.fallback)) identity.add_number(*flag);
  }
  for (const ShapeRule& rule : rules) {
    const auto* input = std::get_if<std::size_t>(&rule);
    identity.add(input ? std::to_string(*input) : std::get<Shape>(rule).to_string());
  }
  return identity.take();
}

}  // namespace

KernelTable check_kernel_table(lua_State* L, int index) {
  index = lua_absindex(L, index);
  if (!lua_istable(L, index))
    refuse(L, index, "the definition", "a table: kernel{name = …, glsl = …}");
  luaL_checkstack(L, 8, "a definition of a kernel");
  check_options(L, index, define_op,
                {"name", "summary", "inputs", "outputs", "dtypes", "params", "shapes", "glsl",
                 "local_size", "uses_subgroups", "cpu"});
  KernelSpec spec;
  push_field(L, index, "name");
  spec.name = text_at_top(L, "name", 64);
  if (!is_identifier(spec.name))
    refuse(L, lua_gettop(L), "name",
           "a letter, then letters, digits and _, with no __ and no gl_ or stoker_ in front");
  if (push_field(L, index, "summary") != LUA_TNIL)
    spec.summary = text_at_top(L, "summary", longest_name);
  push_field(L, index, "glsl");
  spec.glsl = GlslText::bounded(text_at_top(L, "glsl", longest_glsl));
  if (push_field(L, index, "uses_subgroups") != LUA_TNIL) {
    if (!lua_isboolean(L, -1)) refuse(L, lua_gettop(L), "uses_subgroups", "true or false");
    spec.uses_subgroups = lua_toboolean(L, -1) != 0;
  }
  lua_pop(L, 4);
  check_buffers(L, index, "inputs", spec.inputs);
  check_buffers(L, index, "outputs", spec.outputs);
  check_dtypes(L, index, spec.dtypes);
  check_params(L, index, spec.params);
  const std::vector<ShapeRule> rules = check_shapes(L, index, spec);
  check_local_size(L, index, spec.local_size[0]);
  std::string identity = identity_of(spec, rules);
  return {std::move(spec), std::move(identity)};
}

}  // namespace stoker::script
