// Floats of 8 and 4 bits: storage that is converted before anything is computed.
//
// float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, float4e2m1; their bits lie in u8, those of
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
  /// What is too large becomes the largest number; else an infinity or, where there is none, NaN.
  bool saturates = true;
  /// Of float8e8m0: "up", "down" or "nearest". Others take the nearest, the even one of two.
  std::string_view rounding = "up";
  /// NaN of float8e5m2; until version 24 of Cast it was written as 0x7F.
  std::int64_t nan_of_e5m2 = 0x7E;
};
/// The bits of the numbers, which are rounded.
[[nodiscard]] Tensor narrowed(const Tensor& numbers, ElementType type, const Narrowing& how = {});

}  // namespace stoker::onnx
