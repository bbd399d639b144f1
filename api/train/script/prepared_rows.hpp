// Data sets with changes to every row, for options of scripts.
//
//     Dataset images = prepared(pixels, {.shape = Shape{8, 8, 1}, .scale = 1.0 / 16});
//
// Values; any thread. Errors are thrown: shape_mismatch for a different number of elements,
// arity_mismatch for a shape of several inputs; dtype_mismatch and invalid_argument for targets
// that are not class indices.
#pragma once

#include <optional>

#include "stoker/api/data/dataset.hpp"
#include "stoker/api/data/normalize.hpp"

namespace stoker::nn::script {

struct RowChanges {
  std::optional<Shape> shape = {};   ///< of a row of the only input
  std::optional<double> scale = {};  ///< factor of the inputs, in f32
};
/// A view: rows are changed when they are read.
[[nodiscard]] Dataset prepared(const Dataset& data, const RowChanges& changes);

/// Targets, scalars of an integer dtype, as f32 vectors with a 1 at their index. A view: a class
/// that is not in [0, classes) is refused when its row is read.
[[nodiscard]] Dataset with_one_hot_targets(const Dataset& data, std::int64_t classes);

/// Inputs normalized by the statistics of `like`; with "l2" each row by itself. Reads all rows, on
/// current_device().
[[nodiscard]] Dataset normalized(const Dataset& data, const Dataset& like,
                                 const NormalizeOptions& options);

}  // namespace stoker::nn::script
