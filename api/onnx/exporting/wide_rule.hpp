// Rules for operators that take fewer dtypes than the operation: operands are cast to a dtype that they take, and
// results are cast back. https://onnx.ai/onnx/operators
//
// Pure functions; any thread.
#pragma once

#include "stoker/api/onnx/exporting/export_table.hpp"

namespace stoker::onnx {

/// The dtype in which operators of an opset compute operands of `dtype`: the same if they take it, otherwise one
/// that holds every value of `dtype`.
using WideDType = DType (*)(DType dtype, int opset);

/// Applies the rule with the wide dtype in place of the first result's dtype, or of the first operand's if the operator
/// takes the result's.
[[nodiscard]] ExportRule wide_rule(WideDType wide, ExportRule rule);

/// Operators that have taken bf16 since that opset.
template <int Opset> [[nodiscard]] DType bf16_since(DType dtype, int opset) {
  return dtype == DType::bf16 && opset < Opset ? DType::f32 : dtype;
}
/// For operators that take bf16 in no supported opset.
inline constexpr WideDType no_bf16 = &bf16_since<22>;

/// Operators that have taken f16 and bf16 since that opset.
template <int Opset> [[nodiscard]] DType halves_since(DType dtype, int opset) {
  return is_float(dtype) && size_of(dtype) == 2 && opset < Opset ? DType::f32 : dtype;
}

}  // namespace stoker::onnx
