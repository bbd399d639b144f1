// A picture as an input of a model: resized, scaled, and laid out as the model wants it.
//
// Threads: any; blocks on the file. Errors are thrown: not_found, io_error and unsupported for the file,
// invalid_argument where neither the words nor the model say enough, or they contradict one another.
#pragma once

#include <filesystem>

#include "stoker/api/command_line/words/predict_words.hpp"
#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/value_type.hpp"

namespace stoker::command_line {

/// On the device. What the words leave out is as `input` declares it.
[[nodiscard]] onnx::Value picture_input(const std::filesystem::path& path,
                                        const PictureWords& words, const onnx::ValueInfo& input,
                                        const Device& device);

}  // namespace stoker::command_line
