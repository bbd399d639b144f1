// Data sets with changes to every row, for options of scripts.
//
//     Dataset scores = with_one_hot_targets(digits, 10);
//
// Values; any thread. Errors are thrown: dtype_mismatch and invalid_argument for targets that are not
// class indices.
#pragma once

#include "stoker/api/data/dataset.hpp"
#include "stoker/api/data/normalize.hpp"

namespace stoker::nn::script {

/// Targets, scalars of an integer dtype, as f32 vectors with a 1 at their index. A view: a class
/// that is not in [0, classes) is refused when its row is read.
[[nodiscard]] Dataset with_one_hot_targets(const Dataset& data, std::int64_t classes);

/// Inputs normalized by the statistics of `like`; with "l2" each row by itself. Reads all rows, on
/// current_device().
[[nodiscard]] Dataset normalized(const Dataset& data, const Dataset& like,
                                 const NormalizeOptions& options);

}  // namespace stoker::nn::script
