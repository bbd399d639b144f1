// Kernels in 8 bits: each output channel has a scale, and elements are stored as multiples of it.
//
//     const QuantizedKernel q = quantize_dense(kernel);    // f32[in, out] as s8[in, out], f32[out]
//     Tensor y = quantized_product(x, q);                  // near matmul(x, kernel)
//
//     scale = max |kernel| of the channel / 127.5, at least 2^-23
//     values = kernel / scale, rounded with halves away from zero, within [-128, 127]
//
// So no element is off by more than half of its channel's scale. Sums are computed in x's dtype, so
// only memory is saved.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

struct QuantizedKernel {
  Tensor values;  ///< s8 [in, out]
  Tensor scale;   ///< f32 [out]
};
template <class Visitor> void visit_tensors(QuantizedKernel& kernel, Visitor&& visit) {
  visit(kernel.values);
  visit(kernel.scale);
}

/// Quantizes a dense layer's kernel [in, out] of floats.
[[nodiscard]] QuantizedKernel quantize_dense(const Tensor& kernel);
/// values · scale, f32.
[[nodiscard]] Tensor dequantized(const QuantizedKernel& kernel);
/// x · values · scale along the last axis of x, in x's dtype; integers as f32.
[[nodiscard]] Tensor quantized_product(const Tensor& x, const QuantizedKernel& kernel);

}  // namespace stoker::nn
