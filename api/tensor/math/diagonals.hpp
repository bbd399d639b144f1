// Diagonals of matrices: the last two axes, for each entry of those before. A diagonal with `offset` k
// starts at column k, or at row -k.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter for an offset beyond the matrix.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// A square matrix of n + |offset| rows with the vector on its diagonal, and 0 elsewhere. Axes before the
/// last give one matrix each.
[[nodiscard]] Tensor make_diagonal(const Tensor& vector, std::int64_t offset = 0);
/// The elements on a diagonal.
[[nodiscard]] Tensor take_diagonal(const Tensor& matrix, std::int64_t offset = 0);
/// The matrix with a vector on a diagonal, which has its length. Dtypes merge.
[[nodiscard]] Tensor put_diagonal(const Tensor& matrix, const Tensor& vector,
                                  std::int64_t offset = 0);

}  // namespace stoker
