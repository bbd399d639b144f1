// ONNX's rounding and quantisation.
//
// Pure functions; any thread.
#pragma once

#include <optional>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::onnx {

/// The nearest integer; halves round to even. Zeros keep their sign; infinities and NaN do not change.
[[nodiscard]] Tensor rounded_to_even(const Tensor& x);

/// The same plus `zero`, clamped to the integers `low` and `high`, which are within ±2^17. Takes only a few
/// additions. x is f32 or f64.
[[nodiscard]] Tensor quantized(const Tensor& x, const std::optional<Tensor>& zero, double low,
                               double high);

/// x in 256 steps of its range, which is extended to include 0.
struct DynamicallyQuantized {
  Tensor numbers;  ///< u8
  Tensor scale;
  Tensor zero_point;  ///< u8
};
[[nodiscard]] DynamicallyQuantized dynamically_quantized(const Tensor& x);

}  // namespace stoker::onnx
