// What one matmul has to do, worked out once from shapes and parameters for every backend.
#pragma once

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::matmul {

/// On a GPU a sum beyond is cut into parts of as many products.
inline constexpr std::int64_t longest_sum = std::int64_t{1} << 16;

/// `batches` products C = A · B of [m, k] by [k, n], with C dense. A and B are dense, each stored as
/// it reads or transposed. All offsets and strides count elements.
struct Problem {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool transpose_a = false;  ///< A is stored as [k, m]
  bool transpose_b = false;  ///< B is stored as [n, k]
  bool swapped = false;      ///< A is input 1 and B is input 0

  std::int64_t batches = 1;
  std::int64_t a_matrices = 1;  ///< how many different matrices A holds; 1: all batches share it
  std::int64_t b_matrices = 1;

  /// The batch axes of C, and for each the step in matrices of A and B: 0 where they broadcast.
  Shape batch_axes;
  std::array<std::int64_t, Shape::max_rank> a_steps{};
  std::array<std::int64_t, Shape::max_rank> b_steps{};

  struct Indices {
    std::int64_t a;
    std::int64_t b;
  };
  /// Which matrices of A and B make batch `batch` of C.
  [[nodiscard]] Indices matrices(std::int64_t batch) const noexcept;

  [[nodiscard]] std::int64_t a_row_step() const noexcept { return transpose_a ? 1 : k; }
  [[nodiscard]] std::int64_t a_column_step() const noexcept { return transpose_a ? m : 1; }
  /// Multiply-adds in all.
  [[nodiscard]] double work() const noexcept {
    return static_cast<double>(batches) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

/// The output's spec, or why the inputs do not fit (NumPy's rules for matmul: a vector on the left
/// is a row, one on the right a column, and the axis it lent is dropped again; transposing a vector
/// changes nothing; all axes but the last two broadcast).
[[nodiscard]] Result<TensorSpec> infer(const KernelCall& call);

/// The same product for a call that infer() has accepted. A batch of left sides against one right
/// side becomes one tall product, and a product with a column becomes one with a row.
[[nodiscard]] Problem describe(const KernelCall& call);

}  // namespace stoker::kernels::matmul
