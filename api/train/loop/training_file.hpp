// A model in a file with what its training goes on with: how many epochs are over, and what callbacks
// have seen. `stoker train` writes and reads such files, callbacks::checkpoint and trainers write them.
//
//     save_training(model, 20, options.callbacks, "digits.safetensors");
//     …
//     Model model = Model::load("digits.safetensors");
//     options.first_epoch = recall_training("digits.safetensors", options.callbacks) + 1;
//     fit(model, data, options);                    // what one training without an end in between gives
//
// Threads: as Model::save() and open_safetensors(). Errors are thrown: what these say.
#pragma once

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

/// As Model::save(); replaces the file at once.
void save_training(const Model& model, std::int64_t epoch, std::span<const Callback> callbacks,
                   const std::filesystem::path& path);

/// The number of the last epoch that was over; the callbacks remember what theirs had seen. Throws
/// invalid_argument for a file without it, changing no callback.
[[nodiscard]] std::int64_t recall_training(const std::filesystem::path& path,
                                           std::span<const Callback> callbacks);

}  // namespace stoker::nn
