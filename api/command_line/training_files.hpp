// Models on disk that know how far they were trained, so that `stoker train --resume` goes on.
//
// Errors are thrown: what Model::save() and Model::load() say; invalid_argument for a file that
// `stoker train` has not written, or that holds another model than the script describes.
#pragma once

#include "stoker/api/nn/script/training_plan.hpp"

namespace stoker::command_line {

/// As Model::save() writes it, with the number of the last whole epoch. Replaces the file at once.
void save_trained(const nn::Model& model, std::int64_t epoch, const std::filesystem::path& path);

/// The plan's model becomes what the file holds: numbers, optimizer, random numbers to come. The
/// epoch after which it was saved.
[[nodiscard]] std::int64_t resume(nn::TrainingPlan& plan, const std::filesystem::path& path);

}  // namespace stoker::command_line
