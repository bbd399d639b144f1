#include "onnx_options.hpp"

namespace stoker::command_line {

onnx::LoadOptions load_options(const Device& device, const OnnxPassWords& words) {
  const onnx::Optimize level = words.optimize == "none"    ? onnx::Optimize::none
                               : words.optimize == "basic" ? onnx::Optimize::basic
                                                           : onnx::Optimize::all;
  return {.device = device,
          .optimize = level,
          .without = words.without,
          .precision = onnx::parse_precision(words.precision).value()};
}

LoadModelOptions model_options(const Device& device, const OnnxPassWords& words) {
  const onnx::LoadOptions options = load_options(device, words);
  return {.device = device,
          .optimize = options.optimize,
          .without = options.without,
          .precision = options.precision};
}

}  // namespace stoker::command_line
