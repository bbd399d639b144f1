#include "stoker/api/train/model/quantization.hpp"

#include "stoker/api/nn/functional/projection.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::nn {
namespace {

constexpr double least = -128;
constexpr double most = 127;
/// Of f32; a channel of zeros has this scale.
constexpr double epsilon = 0x1p-23;

}  // namespace

QuantizedKernel quantize_dense(const Tensor& kernel) {
  if (kernel.rank() != 2)
    throw Error{"quantize_dense",
                ErrorCode::shape_mismatch,
                "expected a kernel [in, out], got " + kernel.shape().to_string(),
                {{"kernel", kernel.spec().to_string()}}};
  if (!is_float(kernel.dtype()))
    throw Error{"quantize_dense",
                ErrorCode::dtype_mismatch,
                "expected floating-point numbers, got " + kernel.spec().to_string(),
                {{"kernel", kernel.spec().to_string()}}};
  const Tensor whole = as_type(kernel, DType::f32);
  const Tensor scale = max(reduce_max(abs(whole), {Axes{0}}) / ((most - least) / 2), epsilon);
  return {as_type(clip(round(whole / scale), least, most), DType::s8), scale};
}

Tensor dequantized(const QuantizedKernel& kernel) {
  return as_type(kernel.values, DType::f32) * kernel.scale;
}

Tensor quantized_product(const Tensor& x, const QuantizedKernel& kernel) {
  const DType dtype = expr::floating(x.dtype());
  // The scale is the same for all terms of a sum, so it waits until the sum is there.
  return projected(as_type(x, dtype), as_type(kernel.values, dtype)) * as_type(kernel.scale, dtype);
}

}  // namespace stoker::nn
