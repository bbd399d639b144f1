// Splits a tensor in two, and merges neighbouring axes.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include <utility>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The first ceil(extent · fraction) elements along an axis, and the rest. Neither part may be
/// empty.
[[nodiscard]] std::pair<Tensor, Tensor> split_at(const Tensor& x, double fraction,
                                                 std::int64_t axis = 0);
/// Merges adjacent axes into one.
[[nodiscard]] Tensor flatten(const Tensor& x, const Axes& axes);

}  // namespace stoker
