// What a transpose moves, with axes merged where they stay together.
#pragma once

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::transpose {

/// For each output axis the input axis it comes from, from the parameter `axes` (empty: reversed).
/// invalid_parameter unless every axis occurs once.
[[nodiscard]] Result<std::vector<std::size_t>> permutation(const KernelCall& call);

/// The output's axes with the strides of the input; operand 0 is the input.
[[nodiscard]] StridedWalk permuted_walk(const Shape& input, const std::vector<std::size_t>& axes);

/// A transpose as a batch of matrices: in[b][row][column] to out[b][column][row].
struct Matrices {
  std::int64_t rows = 0;           ///< adjacent in the output
  std::int64_t columns = 0;        ///< adjacent in the input
  std::int64_t row_stride = 0;     ///< in the input, in elements
  std::int64_t column_stride = 0;  ///< in the output
  std::size_t batch_rank = 0;
  std::array<std::int64_t, Shape::max_rank> batch_extents{};
  Strides batch_in{};
  Strides batch_out{};

  [[nodiscard]] std::int64_t batches() const noexcept;
};

/// Precondition: the walk is not dense. Nothing if the innermost axis stays innermost, so that runs
/// are copied and no matrix is turned.
[[nodiscard]] std::optional<Matrices> matrices(const StridedWalk& walk);

}  // namespace stoker::kernels::transpose
