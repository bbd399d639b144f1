// Shape queries that need no values, and placeholder tensors.
//
// Threads: any. Errors are thrown: invalid_parameter for an axis out of range.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The extent of an axis; negative ones count from the end.
[[nodiscard]] std::int64_t axis_size(const Tensor& x, std::int64_t axis);
/// The axes of x: 0, 1, …, rank - 1.
[[nodiscard]] Axes axes_of(const Tensor& x);
[[nodiscard]] std::size_t bit_size(const Tensor& x);
/// Whether both have the same dtype and shape, so that a program for one accepts the other.
[[nodiscard]] bool compatible(const Tensor& a, const Tensor& b);
/// A tensor without values, to find shapes and dtypes of expressions. Reading a value throws
/// invalid_argument.
[[nodiscard]] Tensor placeholder(const TensorSpec& spec);

}  // namespace stoker
