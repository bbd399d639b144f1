#include "stoker/api/onnx/core/packed_weights.hpp"

#include <algorithm>

#include "stoker/pipeline/onnx/graph/file_bytes.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::onnx {

Tensor packed_product(const Tensor& a, const PackedWeights& weights) {
  static constinit expr::NamedOp op{"packed_matmul"};
  expr::Values operands{a.value(), weights.numbers.value(), weights.scales.value()};
  if (weights.zeros) operands.push_back(weights.zeros->value());
  return Tensor{expr::apply_one(
      op, operands,
      {{"bits", weights.bits}, {"block_size", weights.block}, {"zero_point", weights.zero_point}})};
}

std::int64_t unsigned_shift(ElementType type) {
  const bool is_signed =
      type == ElementType::s2 || type == ElementType::s4 || type == ElementType::s8;
  return is_signed ? std::int64_t{1} << (bits_of(type) - 1) : 0;
}

std::vector<std::byte> packed_columns(const IntegerMatrix& matrix, std::int64_t column_bytes) {
  // So many columns are written at a time: a line of the cache for each.
  constexpr std::int64_t together = 64;
  const SharedBytes packed = matrix.numbers.packed();
  const auto bits = static_cast<std::int64_t>(bits_of(matrix.numbers.type()));
  const std::int64_t in_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1;
  const auto flip = static_cast<unsigned>(unsigned_shift(matrix.numbers.type()));
  std::vector<std::byte> made(static_cast<std::size_t>(matrix.columns * column_bytes));
  for (std::int64_t first = 0; first < matrix.columns; first += together) {
    const std::int64_t last = std::min(matrix.columns, first + together);
    for (std::int64_t t = 0; t < matrix.rows; ++t)
      for (std::int64_t j = first; j < last; ++j) {
        const std::int64_t at = matrix.is_transposed ? j * matrix.rows + t : t * matrix.columns + j;
        const auto byte =
            std::to_integer<unsigned>(packed.view[static_cast<std::size_t>(at / in_byte)]);
        const unsigned number = (byte >> (at % in_byte * bits) & mask) ^ flip;
        made[static_cast<std::size_t>(j * column_bytes + t / in_byte)] |=
            static_cast<std::byte>(number << (t % in_byte * bits));
      }
  }
  if (const files::ByteSource* const file = file_of(packed))
    file->forget(static_cast<std::uint64_t>(packed.view.data() - file->view().data()),
                 packed.view.size());
  return made;
}

}  // namespace stoker::onnx
