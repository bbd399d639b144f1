// `stoker onnx bench`: how long a model takes, and how many samples a second.
//
// Blocks while it measures. Errors are thrown: those of onnx::load(), of a run and of with_zeros(); not_found for a
// batch that the file does not allow; unsupported for nodes that are not supported.
#pragma once

#include "stoker/api/command_line/words/onnx_words.hpp"

namespace stoker::command_line {

/// Returns the exit code.
[[nodiscard]] int bench_model(const OnnxBenchWords& words);

}  // namespace stoker::command_line
