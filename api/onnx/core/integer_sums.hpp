// Sums of products of 8-bit integers, and their conversion to quantised results.
//
// Pure functions; called while a model is traced. Errors are thrown: those of the kernels integer_matmul
// and integer_conv for their operands, and unsupported with the operator as op for a type that is not an
// integer.
#pragma once

#include <optional>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// The ends of an integer type of up to 16 bits; nothing for other types.
struct IntegerEnds {
  double low, high;
};
[[nodiscard]] std::optional<IntegerEnds> integer_ends(ElementType type);
/// The output_dtype of QuantizeLinear or DequantizeLinear; `otherwise` if it is missing or 0, its default. Throws
/// invalid_argument if it is not an integer, or not the number of a type.
[[nodiscard]] ElementType output_type(const Node& node, ElementType otherwise);

/// The positions of an operand and its zero point among the node's operands; the zero point may be
/// omitted.
struct QuantizedOperand {
  std::size_t numbers;
  std::size_t zero_point;
};

/// Of matrices.
struct Transposed {
  bool a = false, b = false;
};
/// (a - zero point) · (b - zero point) in s32, with the shape of matmul. A vector of zero points belongs to
/// the rows of a, or to the columns of b, as they are multiplied.
[[nodiscard]] Tensor integer_product(const Call& call, const QuantizedOperand& a,
                                     const QuantizedOperand& b, const Transposed& transposed = {});
/// The same of tensors.
struct QuantizedTensor {
  Tensor numbers;
  std::optional<Tensor> zero_point;
};
[[nodiscard]] Tensor integer_product(const QuantizedTensor& a, const QuantizedTensor& b,
                                     const Transposed& transposed = {});

/// The convolution of a node with ConvInteger's attributes, in s32. A vector of zero points of k belongs to the
/// outputs.
[[nodiscard]] Tensor integer_convolution(const Call& call, const QuantizedOperand& x,
                                         const QuantizedOperand& k);

/// x · w / y for the scales at these operand positions, in f32; y may be omitted. If they are known, the
/// host computes the result. A vector at x has one scale for each row and becomes a column.
[[nodiscard]] Tensor joined_scale(const Call& call, std::size_t x, std::size_t w,
                                  std::optional<std::size_t> y);

/// sums · scale, rounded half to even, plus the zero point at that position, clamped to its type.
[[nodiscard]] Value requantized(const Call& call, const Tensor& sums, const Tensor& scale,
                                std::size_t zero_point);

}  // namespace stoker::onnx
