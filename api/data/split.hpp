// Splits a dataset in two: one part for training, one for validation.
//
//     auto [train, validation] = split({x, y}, {.val_split = 0.1, .seed = 7});
//
// Validation gets round(n·val_split) rows (halves round away from zero), taken from the end after
// the shuffle. Inputs stay paired with their targets. Nothing is copied: both parts are views.
//
// Threads: any. Throws invalid_parameter for a share outside [0, 1].
#pragma once

#include <optional>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

struct SplitOptions {
  double val_split = 0.2;
  bool shuffle = true;                     ///< off: the order is kept
  std::optional<std::uint64_t> seed = {};  ///< default: a different order each time
};

struct Split {
  Dataset train;
  Dataset validation;
};
[[nodiscard]] Split split(const Dataset& data, const SplitOptions& options = {});

}  // namespace stoker::nn
