// Diagonals of matrices, which are the last two axes; leading axes are a batch. A diagonal with
// `offset` k starts at column k, or at row -k if k is negative.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter for an offset beyond the matrix.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// A square matrix of n + |offset| rows with the vector on its diagonal and 0 elsewhere. Leading
/// axes are a batch.
[[nodiscard]] Tensor make_diagonal(const Tensor& vector, std::int64_t offset = 0);
/// The elements on a diagonal.
[[nodiscard]] Tensor take_diagonal(const Tensor& matrix, std::int64_t offset = 0);
/// The matrix with a diagonal replaced by a vector of that diagonal's length. Dtypes merge.
[[nodiscard]] Tensor put_diagonal(const Tensor& matrix, const Tensor& vector,
                                  std::int64_t offset = 0);

}  // namespace stoker
