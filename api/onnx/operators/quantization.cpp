// Integers that stand for scaled floats: real = (integer - zero point) · scale.
#include "stoker/api/onnx/core/narrow_floats.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::quantization {
namespace {

struct Ends {
  double low, high;
};
std::optional<Ends> ends_of(ElementType type) {
  const auto dtype = carrier_of(type);
  const std::size_t bits = bits_of(type);
  if (!dtype || !is_integer(*dtype) || bits > 16) return {};
  const double all = static_cast<double>(std::int64_t{1} << bits);
  return is_signed(*dtype) ? Ends{-all / 2, all / 2 - 1} : Ends{0, all - 1};
}

/// Scales (or zero points) of one axis, of blocks along it, or one for all, in the shape of x.
Tensor spread(const Call& call, const Tensor& of, const Shape& shape) {
  if (of.size() == 1) return reshape(of, Shape{});
  const std::int64_t axis =
      axis_in(call.node().integer("axis", 1), static_cast<std::int64_t>(shape.rank()));
  const std::int64_t block = call.node().integer("block_size", 0);
  if (of.rank() == 1 && block == 0) {
    Axes extents(shape.rank(), 1);
    extents[static_cast<std::size_t>(axis)] = of.shape()[0];
    return reshape(of, extents);
  }
  if (block <= 0 || of.rank() != shape.rank())
    call.refuse(ErrorCode::shape_mismatch, "scales of " + of.spec().to_string());
  // Each stands for `block` elements; the last block may be shorter.
  const auto at = static_cast<std::size_t>(axis);
  Axes apart = extents_of(of.shape());
  apart.insert(apart.begin() + axis + 1, 1);
  Axes wide = apart;
  wide[at + 1] = block;
  Axes joined = extents_of(of.shape());
  joined[at] *= block;
  const Tensor all = reshape(broadcast(reshape(of, apart), shape_of(wide)), joined);
  return slice_along_axis(all, 0, shape[at], axis);
}

ElementType quantized_type(const Call& call) {
  if (call.has(2)) return call.type(2);
  return call.node().element_type("output_dtype", ElementType::u8);
}

Values quantize(Call& call) {
  const ElementType type = quantized_type(call);
  if (is_narrow_float(type)) {
    Tensor y =
        as_type(call.x(), DType::f32) / spread(call, as_type(call.x(1), DType::f32), call.shape());
    if (call.has(2)) y = y + spread(call, widened(call.x(2), type), call.shape());
    return {Value{narrowed(y, type, {call.node().flag("saturate", true)}), type}};
  }
  const auto ends = ends_of(type);
  if (!ends) call.refuse(ErrorCode::unsupported, "to " + std::string{to_string(type)});
  const DType computed = size_of(call.x(1).dtype()) < 4 ? DType::f32 : call.x(1).dtype();
  const Tensor scale = spread(call, as_type(call.x(1), computed), call.shape());
  Tensor y = rounded_to_even(as_type(call.x(), computed) / scale);
  if (call.has(2)) y = y + spread(call, as_type(call.x(2), computed), call.shape());
  return {Value{as_type(clip(y, ends->low, ends->high), *carrier_of(type)), type}};
}

Values dequantize(Call& call) {
  const DType given = call.x(1).dtype();
  const DType computed = size_of(given) < 4 ? DType::f32 : given;
  const auto numbers = [&](std::size_t i) {
    return is_narrow_float(call.type(i)) ? widened(call.x(i), call.type(i))
                                         : as_type(call.x(i), DType::s32);
  };
  Tensor x = numbers(0);
  if (call.has(2)) x = x - spread(call, numbers(2), call.shape());
  const Tensor y = as_type(x, computed) * spread(call, as_type(call.x(1), computed), call.shape());
  const ElementType type = call.node().element_type("output_dtype", call.type(1));
  return {Value{as_type(y, carrier_of(type).value()), type}};
}

/// The range of x, which 0 belongs to, in 256 steps.
Values dynamic_quantize(Call& call) {
  const Tensor x = call.x();
  const Tensor high = max(reduce_max(x), 0);
  const Tensor low = min(reduce_min(x), 0);
  const Tensor scale = (high - low) / 255;
  const Tensor zero_point = clip(rounded_to_even(negate(low) / scale), 0, 255);
  const Tensor y = clip(rounded_to_even(x / scale) + zero_point, 0, 255);
  return {Value{as_type(y, DType::u8)}, call.like(scale), Value{as_type(zero_point, DType::u8)}};
}

/// x minus its zero point, which may be one for each row (`axis` -2) or column.
Tensor centered(const Call& call, std::size_t x, std::size_t zero_point, std::int64_t axis) {
  Tensor wide = as_type(call.x(x), DType::s32);
  if (!call.has(zero_point)) return wide;
  Tensor zero = as_type(call.x(zero_point), DType::s32);
  if (zero.size() == 1)
    zero = reshape(zero, Shape{});
  else if (zero.rank() == 1 && axis == -2)
    zero = new_axis(zero, -1);
  return wide - zero;
}

Values matmul_integer(Call& call) {
  return {Value{as_type(matmul(centered(call, 0, 2, -2), centered(call, 1, 3, -1)), DType::s32)}};
}

/// Sums of products below 2^53 are exact in f64.
Tensor convolved(const Call& call, std::size_t x, std::size_t x_zero, std::size_t w,
                 std::size_t w_zero) {
  const Tensor input = centered(call, x, x_zero, 0);
  Tensor kernel = as_type(call.x(w), DType::s32);
  if (call.has(w_zero)) {
    Tensor zero = as_type(call.x(w_zero), DType::s32);
    Axes extents(kernel.rank(), 1);
    if (zero.size() > 1) extents[0] = zero.shape()[0];
    kernel = kernel - reshape(zero, extents);
  }
  const Spatial spatial = Spatial::of(call, spatial_extents(call, kernel.shape()));
  const Tensor y = conv(as_type(input, DType::f64), as_type(kernel, DType::f64),
                        {.strides = spatial.strides,
                         .padding = spatial.pads,
                         .kernel_dilation = spatial.dilations,
                         .feature_group_size = call.node().integer("group", 1)});
  return as_type(y, DType::s32);
}

/// s32 sums as the quantized result: scaled, rounded_to_even, moved, saturated.
Value requantized(const Call& call, const Tensor& sums, const Tensor& scale,
                  std::size_t zero_point) {
  const ElementType type = call.type(zero_point);
  const auto ends = ends_of(type);
  if (!ends) call.refuse(ErrorCode::unsupported, "to " + std::string{to_string(type)});
  const Tensor zero = reshape(as_type(call.x(zero_point), DType::f32), Shape{});
  const Tensor y = rounded_to_even(as_type(sums, DType::f32) * scale) + zero;
  return {as_type(clip(y, ends->low, ends->high), *carrier_of(type)), type};
}

Tensor scale_at(const Call& call, std::size_t i, bool by_rows) {
  const Tensor scale = as_type(call.x(i), DType::f32);
  if (scale.size() == 1) return reshape(scale, Shape{});
  return scale.rank() == 1 && by_rows ? new_axis(scale, -1) : scale;
}

Values qlinear_matmul(Call& call) {
  const Tensor sums = matmul(centered(call, 0, 2, -2), centered(call, 3, 5, -1));
  const Tensor scale =
      scale_at(call, 1, true) * scale_at(call, 4, false) / scale_at(call, 6, false);
  return {requantized(call, sums, scale, 7)};
}

Values qlinear_conv(Call& call) {
  Tensor sums = convolved(call, 0, 2, 3, 5);
  Axes by_channel(sums.rank(), 1);
  by_channel[1] = -1;
  if (call.has(8)) sums = sums + reshape(call.x(8), by_channel);
  Tensor scale = as_type(call.x(4), DType::f32);
  scale = scale.size() == 1 ? reshape(scale, Shape{}) : reshape(scale, by_channel);
  return {requantized(call, sums, scale * scale_at(call, 1, false) / scale_at(call, 6, false), 7)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "QuantizeLinear",
             .since = {10, 13, 19, 21, 23, 24, 25},
             .least_inputs = 2,
             .most_inputs = 3,
             .attributes = {"axis", "block_size", "output_dtype", "saturate", "precision"},
             .lower = &quantize});
  table.add({.name = "DequantizeLinear",
             .since = {10, 13, 19, 21, 23, 24, 25},
             .least_inputs = 2,
             .most_inputs = 3,
             .attributes = {"axis", "block_size", "output_dtype"},
             .lower = &dequantize});
  table.add({.name = "DynamicQuantizeLinear",
             .since = {11},
             .most_outputs = 3,
             .lower = &dynamic_quantize});
  table.add({.name = "MatMulInteger",
             .since = {10},
             .least_inputs = 2,
             .most_inputs = 4,
             .lower = &matmul_integer});
  table.add({.name = "QLinearMatMul",
             .since = {10, 21},
             .least_inputs = 8,
             .most_inputs = 8,
             .lower = &qlinear_matmul});
  const std::vector<std::string> windows{"auto_pad",     "dilations", "group",
                                         "kernel_shape", "pads",      "strides"};
  table.add({.name = "ConvInteger",
             .since = {10},
             .least_inputs = 2,
             .most_inputs = 4,
             .attributes = windows,
             .lower = [](Call& call) { return Values{Value{convolved(call, 0, 2, 1, 3)}}; }});
  table.add({.name = "QLinearConv",
             .since = {10},
             .least_inputs = 8,
             .most_inputs = 9,
             .attributes = windows,
             .lower = &qlinear_conv});
}

}  // namespace stoker::onnx::operators::quantization
