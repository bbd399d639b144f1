// What `stoker train --resume` goes on with.
//
// Errors are thrown: what Model::load() and recall_training() say; invalid_argument for a file that holds
// another model than the script describes.
#pragma once

#include "stoker/api/train/script/training_plan.hpp"

namespace stoker::command_line {

/// The plan's model becomes what the file holds: numbers, optimizer, random numbers to come; its callbacks
/// remember what theirs had seen. The epoch after which it was saved.
[[nodiscard]] std::int64_t resume(nn::TrainingPlan& plan, const std::filesystem::path& path);

}  // namespace stoker::command_line
