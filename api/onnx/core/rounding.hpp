// Rounding as ONNX does it.
//
// Pure functions; any thread.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::onnx {

/// The nearest whole number; of two that are as near, the even one. Zeros keep their sign, infinities and NaN stay.
[[nodiscard]] Tensor rounded_to_even(const Tensor& x);

}  // namespace stoker::onnx
