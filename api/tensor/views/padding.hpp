// Pads tensors at their borders.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include <utility>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The number of elements before and after each axis.
using Borders = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Pads x with `value`; negative counts crop.
[[nodiscard]] Tensor pad_outer(const Tensor& x, const TensorLike& value, const Borders& borders);
/// Pads x by reflection at its first and last elements, which are not repeated; borders longer than
/// the axis keep reflecting: {1, 2, 3} with 3 elements after it is {1, 2, 3, 2, 1, 2}.
[[nodiscard]] Tensor reflect(const Tensor& x, const Borders& borders);

}  // namespace stoker
