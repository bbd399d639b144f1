// Floats of 8 and 4 bits: storage formats that are converted before any computation.
//
// float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, float4e2m1; their bits are in u8, those of
// float4 in the lower half. https://onnx.ai/onnx/technical/float8.html, https://onnx.ai/onnx/technical/float4.html
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/pipeline/onnx/graph/element_type.hpp"

namespace stoker::onnx {

[[nodiscard]] bool is_narrow_float(ElementType type) noexcept;

/// The numbers that the bits stand for, in f32.
[[nodiscard]] Tensor widened(const Tensor& bits, ElementType type);

struct Narrowing {
  /// Whether too large numbers become the largest number; otherwise they become infinite or, if the
  /// type has no infinity, NaN.
  bool saturates = true;
  /// For float8e8m0: "up", "down" or "nearest". Other types round to the nearest, half to even.
  std::string_view rounding = "up";
  /// The bits of NaN for float8e5m2; until version 24 of Cast they were 0x7F.
  std::int64_t nan_of_e5m2 = 0x7E;
};
/// The bits of the numbers, which are rounded.
[[nodiscard]] Tensor narrowed(const Tensor& numbers, ElementType type, const Narrowing& how = {});

}  // namespace stoker::onnx
