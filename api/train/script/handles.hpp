// Handles of nodes, layers, data and models, which pass between a training script and C++.
//
// For functions called from Lua, by the rules of pipeline/script/lua/lua_glue.hpp. Functions that
// check their argument raise an Error that names `op`, the expected and the given value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/train/script/description.hpp"
#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::nn::script {

namespace lua = stoker::script;

/// The description of the state's script. Set by TrainingLibrary::open().
[[nodiscard]] Description& description_of(lua_State* L);
void set_description(lua_State* L, Description& description);

/// Registers the types of handles, with their operators.
void open_handles(lua_State* L);

// Each push counts against the script's memory.
void push_node(lua_State* L, const Node& node);
void push_layer(lua_State* L, const Layer& layer);
void push_data(lua_State* L, std::function<Dataset()> make);
void push_model(lua_State* L, ModelRecipe model);

/// Null if the value is of another type.
[[nodiscard]] const Node* test_node(lua_State* L, int index);
[[nodiscard]] const Layer* test_layer(lua_State* L, int index);
[[nodiscard]] const ModelPtr* test_model(lua_State* L, int index);
[[nodiscard]] DataPtr check_data(lua_State* L, int index, std::string_view op);
[[nodiscard]] ModelPtr check_model(lua_State* L, int index, std::string_view op);

/// The script's current line.
[[nodiscard]] Place current_place(lua_State* L);
/// Charges memory that the script holds to its end.
void charge(lua_State* L, std::size_t bytes);
[[noreturn]] void refuse(lua_State* L, std::string_view op, const std::string& reason);
/// The type of the value at `index`, for messages: "a number", "a node".
[[nodiscard]] std::string type_at(lua_State* L, int index);
/// The nodes at `index`: one or a list. Empty if there is something else.
[[nodiscard]] std::vector<Node> nodes_at(lua_State* L, int index);
/// The real path of a file to read, or for check_target() to write; raises unless the script may use it.
[[nodiscard]] std::filesystem::path check_path(lua_State* L, int index, std::string_view op);
[[nodiscard]] std::filesystem::path check_target(lua_State* L, int index, std::string_view op);

// The functions of `nn`; each adds to the table at the top of the stack.
void open_layers(lua_State* L);
void open_data(lua_State* L);
void open_models(lua_State* L);
/// The results of the script, from stack index `first` on.
[[nodiscard]] TrainingRecipe check_training(lua_State* L, int first);

}  // namespace stoker::nn::script
