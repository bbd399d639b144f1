// Sums of products of 8-bit integers, and how they become quantised results.
//
// Pure functions; called while a model is traced. Errors are thrown: what the kernels integer_matmul and
// integer_conv say of their operands, and unsupported with the operator as op for a type that has no
// integers.
#pragma once

#include <optional>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// The ends of an integer type of up to 16 bits; nothing for other types.
struct IntegerEnds {
  double low, high;
};
[[nodiscard]] std::optional<IntegerEnds> integer_ends(ElementType type);
/// What output_dtype of QuantizeLinear or DequantizeLinear says; `otherwise` where it is missing, or 0, its default.
/// invalid_argument if it is no integer, or the number of no type.
[[nodiscard]] ElementType output_type(const Node& node, ElementType otherwise);

/// Where an operand and its zero point stand among those of a node; the zero point may be left out.
struct QuantizedOperand {
  std::size_t numbers;
  std::size_t zero_point;
};

/// Of matrices.
struct Transposed {
  bool a = false, b = false;
};
/// (a - zero point) · (b - zero point) in s32, shaped as matmul has it. A zero point that is a vector belongs
/// to the rows of a, or to the columns of b, as they are multiplied.
[[nodiscard]] Tensor integer_product(const Call& call, const QuantizedOperand& a,
                                     const QuantizedOperand& b, const Transposed& transposed = {});
/// The same of tensors.
struct QuantizedTensor {
  Tensor numbers;
  std::optional<Tensor> zero_point;
};
[[nodiscard]] Tensor integer_product(const QuantizedTensor& a, const QuantizedTensor& b,
                                     const Transposed& transposed = {});

/// The convolution of a node with ConvInteger's attributes, in s32. A zero point of k that is a vector belongs to the
/// outputs.
[[nodiscard]] Tensor integer_convolution(const Call& call, const QuantizedOperand& x,
                                         const QuantizedOperand& k);

/// x · w / y of the scales that stand at these places, in f32; y may be left out. Where they are known, the
/// host computes it. A vector at x is one for each row and becomes a column.
[[nodiscard]] Tensor joined_scale(const Call& call, std::size_t x, std::size_t w,
                                  std::optional<std::size_t> y);

/// sums · scale, rounded half to even, plus the zero point at that place, limited to its type.
[[nodiscard]] Value requantized(const Call& call, const Tensor& sums, const Tensor& scale,
                                std::size_t zero_point);

}  // namespace stoker::onnx
