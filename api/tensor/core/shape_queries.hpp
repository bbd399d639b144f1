// Questions about shapes that need no values, and tensors that have none.
//
// Threads: any. Errors are thrown: invalid_parameter for an axis that is not there.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The extent of an axis; negative ones count from the end.
[[nodiscard]] std::int64_t axis_size(const Tensor& x, std::int64_t axis);
/// 0, 1, …, one for each axis.
[[nodiscard]] Axes axes_of(const Tensor& x);
[[nodiscard]] std::size_t bit_size(const Tensor& x);
/// The same dtype and shape: what one program takes, it takes of the other.
[[nodiscard]] bool compatible(const Tensor& a, const Tensor& b);
/// A tensor without values, to ask for shapes and dtypes of what is computed of it. Asking for a value
/// throws invalid_argument.
[[nodiscard]] Tensor placeholder(const TensorSpec& spec);

}  // namespace stoker
