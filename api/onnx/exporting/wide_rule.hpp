// Rules for operators that take fewer dtypes than the operation: operands are cast to one that they take, and results
// back. https://onnx.ai/onnx/operators
//
// Pure functions; any thread.
#pragma once

#include "stoker/api/onnx/exporting/export_table.hpp"

namespace stoker::onnx {

/// The dtype in which operators of an opset compute what is of `dtype`: the same where they take it. It holds every
/// value of `dtype`.
using WideDType = DType (*)(DType dtype, int opset);

/// The rule, for operands and results of the wide dtype instead of that of the first result, or of the first operand if
/// the result's is taken.
[[nodiscard]] ExportRule wide_rule(WideDType wide, ExportRule rule);

/// Operators that have taken bf16 since that opset.
template <int Opset> [[nodiscard]] DType bf16_since(DType dtype, int opset) {
  return dtype == DType::bf16 && opset < Opset ? DType::f32 : dtype;
}
/// No opset that is written has one that takes bf16.
inline constexpr WideDType no_bf16 = &bf16_since<22>;

/// Operators that have taken f16 and bf16 since that opset.
template <int Opset> [[nodiscard]] DType halves_since(DType dtype, int opset) {
  return is_float(dtype) && size_of(dtype) == 2 && opset < Opset ? DType::f32 : dtype;
}

}  // namespace stoker::onnx
