// What one product with packed weights has to do, worked out once from shapes and parameters for every backend.
//
// The weights of a column lie together, block after block: number i of a row of bytes stands in byte i·bits/8, the
// first in its lowest bits. So ONNX Runtime's MatMulNBits has them
// (https://onnxruntime.ai/docs/reference/operators/ContribOperators.html).
#pragma once

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::packed_matmul {

/// C [m, n] = A [m, k] · B [k, n]. Extents count elements, `…bytes` bytes.
struct Problem {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t bits = 4;
  std::int64_t block = 32;      ///< numbers of a column that share a scale
  std::int64_t zero_point = 0;  ///< of all, where has_zeros is false
  bool has_zeros = false;

  /// The last may be filled up with numbers that meet no element of A.
  [[nodiscard]] std::int64_t blocks() const noexcept { return (k + block - 1) / block; }
  [[nodiscard]] std::int64_t padded_k() const noexcept { return blocks() * block; }
  [[nodiscard]] std::int64_t block_bytes() const noexcept { return block * bits / 8; }
  [[nodiscard]] std::int64_t column_bytes() const noexcept { return blocks() * block_bytes(); }
  /// Of the zero points of a column.
  [[nodiscard]] std::int64_t zero_bytes() const noexcept { return (blocks() * bits + 7) / 8; }
};

/// The output's spec, or why the inputs do not fit: invalid_parameter, dtype_mismatch, shape_mismatch.
[[nodiscard]] Result<TensorSpec> infer(const KernelCall& call);

/// For a call that infer() has accepted.
[[nodiscard]] Problem describe(const KernelCall& call);

}  // namespace stoker::kernels::packed_matmul
