// A model of a repository, loaded and served as its configuration says.
//
// Threads: any. Blocks. Errors are thrown: those of load_model() and start_serving(), and invalid_argument and
// not_found where the configuration and the model contradict each other.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "stoker/api/serve/models/version_switch.hpp"
#include "stoker/api/serve/repository/model_config.hpp"

namespace stoker::serve {

/// Refuses inputs and outputs of the configuration that the model does not have, or has with another type or with
/// other extents.
void require_agreement(const ModelConfig& config, const AnyModel& model);

/// The inputs of a run that the configuration asks for. Throws limit_exceeded for inputs of more than 1 GiB.
[[nodiscard]] NamedValues inputs_of(const WarmUpSample& sample, const Device& device);

/// The labels of the outputs, from files in this directory; null: there are none.
[[nodiscard]] std::shared_ptr<const serve::protocol::ClassLabels> read_labels(
    const ModelConfig& config, const std::filesystem::path& directory);

}  // namespace stoker::serve
