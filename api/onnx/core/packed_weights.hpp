// Right sides of products whose numbers of 2, 4 or 8 bits stay packed on the device (kernels/packed_matmul).
//
// Pure functions; called while a model is traced. Errors are thrown: what the kernel says of its operands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/api/onnx/core/known.hpp"

namespace stoker::onnx {

/// The kernel's operands beside the left side.
struct PackedWeights {
  Tensor numbers;               ///< u8 [columns, blocks, bytes of a block]
  Tensor scales;                ///< f32 or f16 [columns, blocks]
  std::optional<Tensor> zeros;  ///< u8 [columns, bytes of its zero points]
  std::int64_t bits = 4;
  std::int64_t block = 32;      ///< numbers of a column that share a scale
  std::int64_t zero_point = 0;  ///< of all blocks, if there are no zeros
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
/// Its columns one after the other, each in so many bytes, which hold the numbers from the lowest bits of the first
/// on; signed ones grow by half of the range, so that all are unsigned. What is left of a column's bytes is 0. Pages of
/// a file that the numbers were read from are forgotten.
[[nodiscard]] std::vector<std::byte> packed_columns(const IntegerMatrix& matrix,
                                                    std::int64_t column_bytes);

/// What unsigned numbers are greater by than those of the type; 0 for unsigned types.
[[nodiscard]] std::int64_t unsigned_shift(ElementType type);

}  // namespace stoker::onnx
