// Rounding as ONNX does it, and what it quantises with.
//
// Pure functions; any thread.
#pragma once

#include <optional>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::onnx {

/// The nearest whole number; of two that are as near, the even one. Zeros keep their sign, infinities and NaN stay.
[[nodiscard]] Tensor rounded_to_even(const Tensor& x);

/// The same plus `zero`, limited to whole numbers `low` and `high`; each of these lies within ±2^17. It takes a few
/// additions. x is f32 or f64.
[[nodiscard]] Tensor quantized(const Tensor& x, const std::optional<Tensor>& zero, double low,
                               double high);

/// The range of x, which 0 belongs to, in 256 steps.
struct DynamicallyQuantized {
  Tensor numbers;  ///< u8
  Tensor scale;
  Tensor zero_point;  ///< u8
};
[[nodiscard]] DynamicallyQuantized dynamically_quantized(const Tensor& x);

}  // namespace stoker::onnx
