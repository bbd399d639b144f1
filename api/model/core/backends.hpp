// The kinds of models, one source each.
//
// Threads: any; loading blocks. Errors are thrown: those of load_model(). `options.device` must be
// given.
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
/// The required inputs of an ONNX graph, or with `with_default` those that have an initializer: older files list
/// every initializer among the inputs.
[[nodiscard]] std::vector<onnx::ValueInfo> inputs_of(const onnx::Graph& graph,
                                                     bool with_default = false);
/// The input as a target for pictures.
[[nodiscard]] ImageTarget image_target(const onnx::ValueInfo& input);
/// Throws not_found, with the nearest name, for a name that is not an output.
void check_outputs(const std::vector<onnx::ValueInfo>& outputs,
                   const std::vector<std::string>& names);
/// Drops the outputs that were not requested.
void keep_wanted(NamedValues& outputs, const std::vector<std::string>& names);

}  // namespace stoker::models
