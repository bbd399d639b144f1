// Right operands of products whose 2-, 4- or 8-bit numbers stay packed on the device
// (kernels/packed_matmul).
//
// Pure functions; called while a model is traced. Errors are thrown: those of the kernel for its operands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/api/onnx/core/known.hpp"

namespace stoker::onnx {

/// The kernel's operands besides the left one.
struct PackedWeights {
  Tensor numbers;               ///< u8 [columns, blocks, bytes of a block]
  Tensor scales;                ///< f32 or f16 [columns, blocks]
  std::optional<Tensor> zeros;  ///< u8 [columns, bytes of its zero points]
  std::int64_t bits = 4;
  std::int64_t block = 32;      ///< numbers of a column that share a scale
  std::int64_t zero_point = 0;  ///< of all blocks, if `zeros` is not given
};
/// a · weights, in the dtype of a.
[[nodiscard]] Tensor packed_product(const Tensor& a, const PackedWeights& weights);

/// A matrix of integers of up to 8 bits: `rows` × `columns`, or stored the other way round.
struct IntegerMatrix {
  Known numbers;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool is_transposed = false;
};
/// The columns one after the other, each in the given number of bytes. Numbers begin at the lowest bits of the first
/// byte; half of the range is added to signed numbers, so that all are unsigned. The remaining bytes of a column are 0.
/// Pages of a mapped file from which the numbers were read are released.
[[nodiscard]] std::vector<std::byte> packed_columns(const IntegerMatrix& matrix,
                                                    std::int64_t column_bytes);

/// The number that is added to make numbers of the type unsigned; 0 for unsigned types.
[[nodiscard]] std::int64_t unsigned_shift(ElementType type);

}  // namespace stoker::onnx
