// ONNX models in scripts.
//
// Threads: the script's process, which is parked while a file is read and while a model runs.
#pragma once

#include <filesystem>

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::models {

/// Registers the type of loaded models.
void open_onnx_models(lua_State* L);
/// Reads the model and pushes it. `path` is one that the script may use.
void push_onnx_model(lua_State* L, const std::filesystem::path& path);

}  // namespace stoker::models
