// A tensor cut into several, and neighbouring axes made one.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include <utility>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The first ceil(extent · fraction) along an axis, and the rest. Both have at least one.
[[nodiscard]] std::pair<Tensor, Tensor> split_at(const Tensor& x, double fraction,
                                                 std::int64_t axis = 0);
/// Axes that stand side by side as one.
[[nodiscard]] Tensor flatten(const Tensor& x, const Axes& axes);

}  // namespace stoker
