// Tensors with more around them.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include <utility>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// How many elements before and behind an axis; one pair for each axis.
using Borders = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// `value` around x; negative counts crop.
[[nodiscard]] Tensor pad_outer(const Tensor& x, const TensorLike& value, const Borders& borders);
/// x mirrored at its first and last elements, which are not repeated; borders that are longer than the
/// axis go on bouncing: {1, 2, 3} with 3 behind it is {1, 2, 3, 2, 1, 2}.
[[nodiscard]] Tensor reflect(const Tensor& x, const Borders& borders);

}  // namespace stoker
