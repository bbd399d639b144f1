#include "stoker/api/train/script/handles.hpp"

#include "stoker/api/nn/layers/joining.hpp"

namespace stoker::nn::script {
namespace {

constexpr const char* node_type = "stoker.nn.node";
constexpr const char* layer_type = "stoker.nn.layer";
constexpr const char* data_type = "stoker.nn.data";
constexpr const char* model_type = "stoker.nn.model";
constexpr const char* description_key = "stoker.nn.description";

// About what one of them holds outside of Lua.
constexpr std::size_t node_bytes = 512;
constexpr std::size_t recipe_bytes = 1024;

template <class Kind> int join(lua_State* L, lua::Script&) {
  std::vector<Node> inputs;
  for (int i = 1; i <= 2; ++i) {
    const Node* node = test_node(L, i);
    if (node == nullptr)
      refuse(L, Kind::kind, "both sides must be nodes, one of them is " + type_at(L, i));
    inputs.push_back(*node);
  }
  push_node(L, Layer{Kind{}}(std::move(inputs)));
  return 1;
}

int apply_layer(lua_State* L, lua::Script&) {
  const Layer layer = *test_layer(L, 1);
  std::vector<Node> inputs;
  for (int i = 2; i <= lua_gettop(L); ++i) {
    const std::vector<Node> some = nodes_at(L, i);
    if (some.empty())
      refuse(L, layer.kind(), "a layer is applied to nodes, not to " + type_at(L, i));
    inputs.insert(inputs.end(), some.begin(), some.end());
  }
  const std::vector<Node> outputs = layer.outputs(std::move(inputs));
  luaL_checkstack(L, static_cast<int>(outputs.size()), "too many outputs");
  for (const Node& output : outputs) push_node(L, output);
  return static_cast<int>(outputs.size());
}

int node_text(lua_State* L, lua::Script&) {
  const Node& node = *test_node(L, 1);
  lua::push_text(
      L, node.is_input() ? "input '" + node.input_name() + "'" : "node of " + node.layer().kind());
  return 1;
}

void set_method(lua_State* L, const char* name, lua_CFunction method) {
  lua_pushcfunction(L, method);
  lua_setfield(L, -2, name);
}

std::string_view path_text(lua_State* L, int index, std::string_view op) {
  if (lua_type(L, index) != LUA_TSTRING)
    refuse(L, op, "expected the path of a file, got " + type_at(L, index));
  return lua::check_text(L, index);
}

}  // namespace

Description& description_of(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, description_key);
  auto* const description = static_cast<Description*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return *description;
}

void set_description(lua_State* L, Description& description) {
  lua_pushlightuserdata(L, &description);
  lua_setfield(L, LUA_REGISTRYINDEX, description_key);
}

void open_handles(lua_State* L) {
  lua::open_type<Node>(L, node_type);
  set_method(L, "__add", lua::function<join<layers::Add>>);
  set_method(L, "__sub", lua::function<join<layers::Subtract>>);
  set_method(L, "__mul", lua::function<join<layers::Multiply>>);
  set_method(L, "__tostring", lua::function<node_text>);
  lua_pop(L, 1);
  lua::open_type<Layer>(L, layer_type);
  set_method(L, "__call", lua::function<apply_layer>);
  lua_pop(L, 1);
  lua::open_type<DataPtr>(L, data_type);
  lua_pop(L, 1);
  lua::open_type<ModelPtr>(L, model_type);
  lua_pop(L, 1);
}

void push_node(lua_State* L, const Node& node) {
  charge(L, node_bytes);
  Description& description = description_of(L);
  // Further outputs of one application come right after the first.
  if (description.nodes.empty() || description.nodes.back().node.place() != node.place())
    description.nodes.push_back({node, current_place(L)});
  lua::push_object<Node>(L, node_type, node);
}

void push_layer(lua_State* L, const Layer& layer) {
  charge(L, node_bytes);
  lua::push_object<Layer>(L, layer_type, layer);
}

void push_data(lua_State* L, std::function<Dataset()> make) {
  charge(L, recipe_bytes);
  lua::push_object<DataPtr>(L, data_type,
                            std::make_shared<DataRecipe>(current_place(L), std::move(make)));
}

void push_model(lua_State* L, ModelRecipe model) {
  charge(L, recipe_bytes);
  lua::push_object<ModelPtr>(L, model_type, std::make_shared<const ModelRecipe>(std::move(model)));
}

const Node* test_node(lua_State* L, int index) {
  return lua::test_object<Node>(L, index, node_type);
}

const Layer* test_layer(lua_State* L, int index) {
  return lua::test_object<Layer>(L, index, layer_type);
}

const ModelPtr* test_model(lua_State* L, int index) {
  return lua::test_object<ModelPtr>(L, index, model_type);
}

DataPtr check_data(lua_State* L, int index, std::string_view op) {
  const DataPtr* data = lua::test_object<DataPtr>(L, index, data_type);
  if (data == nullptr)
    refuse(L, op, "expected data (nn.csv, nn.rows, …), got " + type_at(L, index));
  return *data;
}

ModelPtr check_model(lua_State* L, int index, std::string_view op) {
  const ModelPtr* model = test_model(L, index);
  if (model == nullptr) refuse(L, op, "expected a model (nn.model), got " + type_at(L, index));
  return *model;
}

Place current_place(lua_State* L) {
  return {lua::script_of(L).source().name, lua::current_line(L)};
}

void charge(lua_State* L, std::size_t bytes) {
  lua::Budget& budget = lua::script_of(L).budget();
  if (budget.take_memory(bytes)) return;
  budget.exhaust_memory();
  lua::check_budget(L);
}

void refuse(lua_State* L, std::string_view op, const std::string& reason) {
  lua::raise(L, Error{"nn." + std::string{op}, ErrorCode::invalid_argument, reason});
}

std::string type_at(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return "nothing";
  if (test_node(L, index) != nullptr) return "a node";
  if (test_layer(L, index) != nullptr) return "a layer that was applied to nothing";
  if (lua::test_object<DataPtr>(L, index, data_type) != nullptr) return "data";
  if (test_model(L, index) != nullptr) return "a model";
  return std::string{"a "} + luaL_typename(L, index);
}

std::vector<Node> nodes_at(lua_State* L, int index) {
  if (const Node* node = test_node(L, index)) return {*node};
  std::vector<Node> nodes;
  if (!lua_istable(L, index)) return nodes;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua::spend(L, 1);
    lua_rawgeti(L, index, i);
    const Node* node = test_node(L, -1);
    if (node != nullptr) nodes.push_back(*node);
    lua_pop(L, 1);
    if (node == nullptr) return {};
  }
  return nodes;
}

std::filesystem::path check_path(lua_State* L, int index, std::string_view op) {
  const std::string_view path = path_text(L, index, op);
  return lua::value_or_raise(L, lua::script_of(L).paths().find("nn." + std::string{op}, path));
}

std::filesystem::path check_target(lua_State* L, int index, std::string_view op) {
  const std::string_view path = path_text(L, index, op);
  return lua::value_or_raise(L, lua::script_of(L).paths().resolve("nn." + std::string{op}, path));
}

}  // namespace stoker::nn::script
