// The result of a training script: a model and everything that fit() needs.
//
// A value; as thread-safe as its members.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

struct TrainingPlan {
  Model model;  ///< initialized, on the requested device
  Dataset data;
  /// Has validation, metrics and callbacks. `epochs` is the number of the last epoch, also if
  /// training continues from a file.
  FitOptions fit;
  std::optional<std::filesystem::path> save;  ///< the file to which the script saves the model
  std::string script;
  int line = 0;  ///< the line that made the model

  /// `error` with the script and the line of the model as details; an error that has them already
  /// is unchanged.
  [[nodiscard]] Error placed(const Error& error) const;
};

}  // namespace stoker::nn
