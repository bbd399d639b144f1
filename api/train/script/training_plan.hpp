// What a training script came to: a model and everything that fit() needs.
//
// A value; as thread-safe as what it holds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

struct TrainingPlan {
  Model model;  ///< begun, on the device that was asked for
  Dataset data;
  /// With validation, metrics and callbacks. Its epochs are the number at which training ends, also
  /// of one that goes on from a file.
  FitOptions fit;
  std::optional<std::filesystem::path> save;  ///< where the script wants the model
  std::string script;
  int line = 0;  ///< where the script made the model

  /// Why training failed, with the script and the line of the model. One that knows them is kept.
  [[nodiscard]] Error placed(const Error& error) const;
};

}  // namespace stoker::nn
