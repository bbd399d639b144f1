// Sums of products over shared axes.
//
// Threads: any. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// NumPy's matmul: the last two axes are matrices, those before broadcast; a vector is a row on the left
/// and a column on the right.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

/// Nx's and NumPy's dot: scalars multiply, vectors give their inner product, else the last axis of `a`
/// meets the second last of `b` (its only one, if it has one).
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b);

/// Which axes of both are summed over (`contract`, pairwise) and which go side by side (`batch`).
struct DotAxes {
  Axes contract;
  Axes batch = {};
};
/// The result's axes: the batch axes, the others of `a`, the others of `b`.
[[nodiscard]] Tensor dot(const Tensor& a, const DotAxes& a_axes, const Tensor& b,
                         const DotAxes& b_axes);

/// Each element of `a` with each of `b`: a matrix.
[[nodiscard]] Tensor outer(const Tensor& a, const Tensor& b);

}  // namespace stoker
