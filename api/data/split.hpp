// One set of rows into two: to train with, and to validate with.
//
//     auto [train, validation] = split({x, y}, {.val_split = 0.1, .seed = 7});
//
// Validation gets round(n·val_split) rows, halves away from zero, taken from the end after the
// shuffle. Rows stay paired. Nothing is copied: both are views.
//
// Threads: any. Errors are thrown: invalid_parameter for a share that is not in [0, 1].
#pragma once

#include <optional>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

struct SplitOptions {
  double val_split = 0.2;
  bool shuffle = true;                     ///< off: the order stays
  std::optional<std::uint64_t> seed = {};  ///< none given: another order each time
};

struct Split {
  Dataset train;
  Dataset validation;
};
[[nodiscard]] Split split(const Dataset& data, const SplitOptions& options = {});

}  // namespace stoker::nn
