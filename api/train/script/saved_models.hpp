// nn.load(path) and predict() of the loaded models.
//
// The variables are buffers of the script, on its device and within its limits. A prediction is an operation
// on buffers like any other: nothing runs until its values are needed.
//
// Threads: the script's process.
#pragma once

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::nn::script {

/// Registers the type of loaded models, and adds `load` to the table at the top of the stack.
void open_saved_models(lua_State* L);
/// nn.load(path).
int load_saved_model(lua_State* L, stoker::script::Script& script);

}  // namespace stoker::nn::script
