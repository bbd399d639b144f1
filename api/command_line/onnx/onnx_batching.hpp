// How a serving would batch the requests of a model, found by the check that servings make: for people and as JSON.
//
// Threads: any. batching_of() loads the model and runs it, so it blocks; it throws the errors of load_model(), those of
// with_values() and values_for() (onnx_shapes.hpp), and those of a prediction for inputs that are given. The rest are
// pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/command_line/words/onnx_words.hpp"
#include "stoker/api/onnx/run/description.hpp"

namespace stoker {
class Device;
}  // namespace stoker

namespace stoker::command_line {

struct Batching {
  /// A value of the model, and the axis along which requests are joined or cut.
  using Axes = std::vector<std::pair<std::string, std::size_t>>;
  std::string why_apart;  ///< empty: requests share batches
  Axes inputs, outputs;   ///< empty if they do not
};

/// Without `--input` and `--shape` numbers are made up, for the extents of the file.
[[nodiscard]] Batching batching_of(const Device& device,
                                   const std::vector<onnx::Description::Input>& inputs,
                                   const OnnxInfoWords& words);
[[nodiscard]] std::string to_text(const Batching& batching);
[[nodiscard]] nlohmann::json to_json(const Batching& batching);

}  // namespace stoker::command_line
