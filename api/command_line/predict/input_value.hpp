// The value of one input, from a word of the command line: zeros:1x3x240x320, a .npy file, a .pb file with a value of
// ONNX.
//
// Threads: any, within a DeviceScope; blocks on files. Errors are thrown: not_found for files; io_error, unsupported
// and invalid_argument for what is in them.
#pragma once

#include <string>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/value_type.hpp"

namespace stoker::command_line {

/// Precondition: is_value(word).
[[nodiscard]] onnx::Value value_for(const onnx::ValueInfo& input, const std::string& word);

}  // namespace stoker::command_line
