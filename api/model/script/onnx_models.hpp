// ONNX models in scripts.
//
// Threads: the script's process, which is parked while a file is read and while a model runs.
#pragma once

#include <filesystem>

#include "stoker/api/onnx/run/model.hpp"
#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::models {

/// A script's options for the plans of a model, as in onnx::LoadOptions.
struct PlanOptions {
  std::uint64_t max_plan_bytes = onnx::Plans::no_limit;
  onnx::NewShape on_new_shape = onnx::NewShape::trace;
};

/// Registers the type of loaded models.
void open_onnx_models(lua_State* L);
/// Reads the model and pushes it. The script must be allowed to use `path`.
void push_onnx_model(lua_State* L, const std::filesystem::path& path, const PlanOptions& options);

}  // namespace stoker::models
