// `stoker onnx export`: models of Stoker's as ONNX files.
//
// Blocks. Errors are thrown: those of onnx::save_model_file(); unsupported for a file that holds no network;
// invalid_argument for an output that is the model or no file.
#pragma once

#include "stoker/api/command_line/words/onnx_words.hpp"

namespace stoker::command_line {

/// Returns the exit code.
[[nodiscard]] int export_model(const OnnxExportWords& words);

}  // namespace stoker::command_line
