// How the verbs of `stoker onnx` load models.
//
// Pure functions; any thread.
#pragma once

#include "stoker/api/command_line/words/onnx_words.hpp"
#include "stoker/api/model/core/model.hpp"
#include "stoker/api/onnx/run/model.hpp"

namespace stoker::command_line {

[[nodiscard]] onnx::LoadOptions load_options(const Device& device, const OnnxPassWords& words);
/// The same for load_model().
[[nodiscard]] LoadModelOptions model_options(const Device& device, const OnnxPassWords& words);

}  // namespace stoker::command_line
