// What one product of 8-bit integers has to do, worked out once for every backend.
#pragma once

#include "stoker/kernels/matmul/problem.hpp"

namespace stoker::kernels::integer_matmul {

/// One operand: 8-bit integers, and what is subtracted from them first.
struct Side {
  std::size_t input = 0;
  bool is_signed = false;
  std::size_t zeros_input = 0;
  /// 0: nothing is subtracted; 1: one number from all; else line i (a row of the left side, a column of the right one)
  /// has number i % zeros.
  std::int64_t zeros = 0;
};

/// `product` says which input is the left side: where it is swapped, that is input 1.
struct Problem {
  matmul::Problem product;
  Side a, b;
};

/// The output's spec, or why the inputs do not fit. Shapes are matmul's; s8 and u8 may be mixed, and zero points have
/// the dtype of their operand and one element, or one for each row of a, or column of b.
[[nodiscard]] Result<TensorSpec> infer(const KernelCall& call);

/// For a call that infer() has accepted.
[[nodiscard]] Problem describe(const KernelCall& call);

/// dtype_mismatch unless input `index` is s8 or u8 and, if it is a zero point, of the dtype of input `of`.
[[nodiscard]] Result<void> check_dtype(std::string_view op, const KernelCall& call,
                                       std::size_t index, std::size_t of);
/// shape_mismatch unless input `index`, zero points, has one element or is a vector of `lines`.
[[nodiscard]] Result<void> check_zeros(std::string_view op, const KernelCall& call,
                                       std::size_t index, std::int64_t lines);
/// The operand `input`, whose zero points are input `zeros` if the call has so many.
[[nodiscard]] Side side_of(const KernelCall& call, std::size_t input, std::size_t zeros);

}  // namespace stoker::kernels::integer_matmul
