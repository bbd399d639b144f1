// The kinds of models, one source each.
//
// Threads: any; loading blocks. Errors are thrown, as load_model() says. `options.device` is given.
#pragma once

#include <filesystem>
#include <memory>

#include "stoker/api/data/image_input.hpp"
#include "stoker/api/model/core/model.hpp"

namespace stoker::models {

using BackendPtr = std::shared_ptr<const Backend>;

[[nodiscard]] BackendPtr load_onnx(const std::filesystem::path& path,
                                   const LoadModelOptions& options);
[[nodiscard]] BackendPtr load_network(const std::filesystem::path& path,
                                      const LoadModelOptions& options);
[[nodiscard]] BackendPtr load_script(const std::filesystem::path& path,
                                     const LoadModelOptions& options);

/// "1 layer", "2 layers".
[[nodiscard]] inline std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}
/// The inputs of an ONNX graph that a prediction must be given, or those that have an initializer: older files list
/// every initializer among the inputs.
[[nodiscard]] std::vector<onnx::ValueInfo> inputs_of(const onnx::Graph& graph,
                                                     bool with_default = false);
/// The input as one that may take a picture.
[[nodiscard]] ImageTarget image_target(const onnx::ValueInfo& input);
/// Throws not_found, with the nearest, for a name that is no output.
void check_outputs(const std::vector<onnx::ValueInfo>& outputs,
                   const std::vector<std::string>& names);
/// Drops the outputs that were not asked for.
void keep_wanted(NamedValues& outputs, const std::vector<std::string>& names);

}  // namespace stoker::models
