// nn.input, nn.layer, and a function for each kind of layer: nn.conv(x, 16, {kernel_size = 3}).
#include <map>

#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/train/script/handles.hpp"
#include "stoker/api/train/script/option_table.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"

namespace stoker::nn::script {
namespace {

/// What is left of a layer's options: {name = value, …}, `name` apart.
struct LayerOptions {
  Params options;
  std::string name;
};

/// In the order in which the kind declares them: that of a Lua table differs from run to run, and with it
/// the text of the network. What the kind does not know comes last, by name.
Params in_declared_order(const LayerDefinition& kind, const Params& given) {
  Params made;
  for (const ParamSpec& option : kind.options)
    if (const ParamValue* value = given.find(option.name)) made.set(option.name, *value);
  std::map<std::string, ParamValue> rest;
  for (const Params::Entry& entry : given.entries())
    if (!made.find(entry.name)) rest.emplace(entry.name, entry.value);
  for (const auto& [name, value] : rest) made.set(name, value);
  return made;
}

void read_options(lua_State* L, int index, const LayerDefinition& kind, LayerOptions& into) {
  constexpr std::size_t most = 256;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua::spend(L, 4);
    if (lua_type(L, -2) != LUA_TSTRING || into.options.entries().size() == most)
      refuse(L, kind.name, "options are written {name = value, …}");
    const std::string key{lua::check_text(L, -2)};
    if (key == "name") {
      if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, kind.name, "name must be a text, not " + type_at(L, -1));
      into.name = lua::check_text(L, -1);
    } else if (into.options.find(key) != nullptr) {
      refuse(L, kind.name, "'" + key + "' is given twice, by its place and by its name");
    } else {
      into.options.set(key, lua::check_option(L, lua_gettop(L), "nn." + kind.name, key));
    }
    lua_pop(L, 1);
  }
  into.options = in_declared_order(kind, into.options);
}

/// nodes …, values …, options: values are the kind's options in the order in which it declares
/// them.
int call_kind(lua_State* L, lua::Script&) {
  const LayerDefinition& kind = layer_kind(lua::check_text(L, lua_upvalueindex(1)));
  std::vector<Node> inputs;
  LayerOptions given;
  std::size_t values = 0;
  const int last = lua_gettop(L);
  for (int i = 1; i <= last; ++i) {
    if (const std::vector<Node> some = nodes_at(L, i); !some.empty()) {
      if (values > 0) refuse(L, kind.name, "nodes come before all else");
      inputs.insert(inputs.end(), some.begin(), some.end());
    } else if (lua_istable(L, i) && lua_rawlen(L, i) == 0) {
      if (i != last) refuse(L, kind.name, "the table of options comes last");
      read_options(L, i, kind, given);
    } else {
      if (inputs.empty())
        refuse(L, kind.name, "its first argument must be a node, not " + type_at(L, i));
      if (values == kind.options.size())
        refuse(
            L, kind.name,
            "it takes " + std::to_string(values) + " options, this is one more: " + type_at(L, i));
      const std::string& option = kind.options[values++].name;
      given.options.set(option, lua::check_option(L, i, "nn." + kind.name, option));
    }
  }
  lua::spend(L, 100);
  const std::vector<Node> outputs =
      Layer{Named{kind.name, given.options}, given.name}.outputs(std::move(inputs));
  luaL_checkstack(L, static_cast<int>(outputs.size()), "too many outputs");
  for (const Node& output : outputs) push_node(L, output);
  return static_cast<int>(outputs.size());
}

/// nn.layer(kind, options): a layer to be applied, once or several times with the same parameters.
int make_layer(lua_State* L, lua::Script&) {
  if (lua_type(L, 1) != LUA_TSTRING)
    refuse(L, "layer", "expected the name of a kind, got " + type_at(L, 1));
  const LayerDefinition& kind = layer_kind(lua::check_text(L, 1));
  LayerOptions given;
  if (!lua_isnoneornil(L, 2)) {
    if (!lua_istable(L, 2))
      refuse(L, "layer", "options are written {name = value, …}, got " + type_at(L, 2));
    read_options(L, 2, kind, given);
  }
  push_layer(L, Layer{Named{kind.name, given.options}, given.name});
  return 1;
}

/// nn.input{8, 8, 1}, nn.input({8, 8, 1}, {name =, dtype =, optional =}): one row of what the model is given.
int make_input(lua_State* L, lua::Script&) {
  std::vector<std::int64_t> extents = lua::check_integers(L, 1, "nn.input", "the shape of a row");
  const OptionTable options{L, 2, "input", {"name", "dtype", "optional"}};
  const std::string name = options.text("name").value_or("input");
  const std::string dtype_name = options.text("dtype").value_or("f32");
  const std::optional<DType> dtype = parse_dtype(dtype_name);
  if (!dtype) refuse(L, "input", "there is no dtype '" + dtype_name + "'");
  const Shape row = lua::value_or_raise(L, Shape::try_make(extents, "nn.input"));
  push_node(L, options.flag("optional").value_or(false) ? optional_input(name, row, *dtype)
                                                        : input(name, row, *dtype));
  return 1;
}

}  // namespace

void open_layers(lua_State* L) {
  for (const LayerDefinition* kind : layer_kinds()) {
    lua::push_text(L, kind->name);
    lua_pushcclosure(L, lua::function<call_kind>, 1);
    lua_setfield(L, -2, kind->name.c_str());
  }
  const luaL_Reg functions[] = {{"input", lua::function<make_input>},
                                {"layer", lua::function<make_layer>},
                                {nullptr, nullptr}};
  luaL_setfuncs(L, functions, 0);
}

}  // namespace stoker::nn::script
