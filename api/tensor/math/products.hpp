// Sums of products over shared axes.
//
// Threads: any. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// NumPy's matmul: the last two axes are matrices, leading axes broadcast. A vector counts as a row
/// on the left and as a column on the right.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

/// Nx's and NumPy's dot: scalars multiply, vectors give their inner product; otherwise the last
/// axis of `a` is contracted with the second-last of `b` (or its only one).
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b);

/// The axes that are summed over (`contract`, paired with the other operand's) and the batch axes
/// (`batch`).
struct DotAxes {
  Axes contract;
  Axes batch = {};
};
/// The result's axes: the batch axes, the others of `a`, the others of `b`.
[[nodiscard]] Tensor dot(const Tensor& a, const DotAxes& a_axes, const Tensor& b,
                         const DotAxes& b_axes);

/// The outer product: a matrix of each element of `a` times each of `b`.
[[nodiscard]] Tensor outer(const Tensor& a, const Tensor& b);

}  // namespace stoker
