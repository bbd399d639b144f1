// A file with a model and all that is needed to resume its training: the number of completed epochs
// and the callbacks' states. `stoker train` reads and writes such files; callbacks::checkpoint and
// trainers write them.
//
//     save_training(model, 20, options.callbacks, "digits.safetensors");
//     …
//     Model model = Model::load("digits.safetensors");
//     options.first_epoch = recall_training("digits.safetensors", options.callbacks) + 1;
//     fit(model, data, options); // as if training had never stopped
//
// Threads: as Model::save() and open_safetensors(). Throws what these throw.
#pragma once

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

/// As Model::save(); replaces the file atomically.
void save_training(const Model& model, std::int64_t epoch, std::span<const Callback> callbacks,
                   const std::filesystem::path& path);

/// Returns the number of the last completed epoch, and restores the callbacks' states. Throws
/// invalid_argument, changing no callback, for a file without them.
[[nodiscard]] std::int64_t recall_training(const std::filesystem::path& path,
                                           std::span<const Callback> callbacks);

}  // namespace stoker::nn
