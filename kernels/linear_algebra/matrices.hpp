// What the definitions of cholesky, lu, qr, … share: the last two axes of an input as a matrix, the
// axes before them as a batch.
//
// Pure functions on values; any thread may call them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::kernels::linear_algebra {

struct Matrices {
  Shape batch;             ///< every axis but the last two
  std::int64_t count = 1;  ///< matrices in the batch
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  [[nodiscard]] std::int64_t smaller() const noexcept { return std::min(rows, columns); }
  /// The batch, with matrices of another size. Throws as Shape::appended().
  [[nodiscard]] Shape shape(std::int64_t height, std::int64_t width) const {
    return batch.appended(height).appended(width);
  }
};

/// shape_mismatch if `input` has fewer than two axes.
[[nodiscard]] Result<Matrices> matrices(std::string_view op, const TensorSpec& input);
/// shape_mismatch if the last two axes are missing or differ.
[[nodiscard]] Result<Matrices> square_matrices(std::string_view op, const TensorSpec& input);

/// f32 and f64: what factorizations compute in. Narrower floats have no use for a factor's digits.
[[nodiscard]] std::vector<DType> factor_dtypes();

/// For the two inputs of a solver: the square matrices a, and b of the same dtype and batch whose
/// rows (`left`) or columns are as many as a's. dtype_mismatch or shape_mismatch otherwise.
[[nodiscard]] Result<void> check_right_side(std::string_view op, const TensorSpec& a,
                                            const TensorSpec& b, bool left);

}  // namespace stoker::kernels::linear_algebra
