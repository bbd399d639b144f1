// Integers that stand for scaled floats: real = (integer - zero point) · scale.
#include "stoker/api/onnx/core/integer_sums.hpp"
#include "stoker/api/onnx/core/narrow_floats.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::quantization {
namespace {

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
  return output_type(call.node(), ElementType::u8);
}

/// Powers of two may come as float8e8m0.
Tensor scale_of(const Call& call) {
  return is_narrow_float(call.type(1)) ? widened(call.x(1), call.type(1)) : call.x(1);
}

Values quantize(Call& call) {
  const ElementType type = quantized_type(call);
  const Tensor given = scale_of(call);
  if (is_narrow_float(type)) {
    Tensor y =
        as_type(call.x(), DType::f32) / spread(call, as_type(given, DType::f32), call.shape());
    if (call.has(2)) y = y + spread(call, widened(call.x(2), type), call.shape());
    return {Value{narrowed(y, type, {call.node().flag("saturate", true)}), type}};
  }
  const auto ends = integer_ends(type);
  if (!ends) call.refuse(ErrorCode::unsupported, "to " + std::string{to_string(type)});
  const DType computed = size_of(given.dtype()) < 4 ? DType::f32 : given.dtype();
  const Tensor scale = spread(call, as_type(given, computed), call.shape());
  std::optional<Tensor> zero;
  if (call.has(2)) zero = spread(call, as_type(call.x(2), computed), call.shape());
  const Tensor y = quantized(as_type(call.x(), computed) / scale, zero, ends->low, ends->high);
  return {Value{as_type(y, *carrier_of(type)), type}};
}

Values dequantize(Call& call) {
  const Tensor scale = scale_of(call);
  const DType computed = size_of(scale.dtype()) < 4 ? DType::f32 : scale.dtype();
  // Differences of integers of 16 bits are exact in floats, too.
  const DType exact = size_of(call.x().dtype()) <= 2 ? computed : DType::s32;
  const auto numbers = [&](std::size_t i) {
    return is_narrow_float(call.type(i)) ? widened(call.x(i), call.type(i))
                                         : as_type(call.x(i), exact);
  };
  Tensor x = numbers(0);
  if (call.has(2)) x = x - spread(call, numbers(2), call.shape());
  const Tensor y = as_type(x, computed) * spread(call, as_type(scale, computed), call.shape());
  const ElementType type = output_type(call.node(), call.type(1));
  if (is_narrow_float(type))
    call.refuse(ErrorCode::unsupported, "to " + std::string{to_string(type)});
  return {Value{as_type(y, carrier_of(type).value()), type}};
}

Values dynamic_quantize(Call& call) {
  const DynamicallyQuantized made = dynamically_quantized(call.x());
  return {Value{made.numbers}, call.like(made.scale), Value{made.zero_point}};
}

/// What quantised numbers are.
constexpr TypeSet quantized_types = byte_types | ElementType::u16 | ElementType::s16 |
                                    float8_types | ElementType::f4e2m1 | ElementType::s4 |
                                    ElementType::u4 | ElementType::s2 | ElementType::u2;

}  // namespace

void define(OperatorTable& table) {
  Operator to_integers{
      .name = "QuantizeLinear",
      .since = {10, 13, 19, 21, 23, 24, 25},
      .least_inputs = 2,
      .most_inputs = 3,
      .types = {.operands = {float_types | ElementType::s32,
                             float_types | ElementType::s32 | ElementType::f8e8m0, quantized_types},
                .results = {first_of(like(2), NamedBy{"output_dtype"}, ElementType::u8)}},
      .attributes = {"axis", "block_size", "output_dtype", "saturate", "precision"},
      .lower = &quantize};
  Operator to_floats{.name = "DequantizeLinear",
                     .since = {10, 13, 19, 21, 23, 24, 25},
                     .least_inputs = 2,
                     .most_inputs = 3,
                     .types = {.operands = {quantized_types | ElementType::s32,
                                            float_types | ElementType::f8e8m0, like(0)},
                               .results = {first_of(NamedBy{"output_dtype"}, like(1))}},
                     .attributes = {"axis", "block_size", "output_dtype"},
                     .lower = &dequantize};
  table.add(to_integers);
  table.add(to_floats);
  // ONNX Runtime's quantizer writes these where a model's opset has no integers of 16 bits.
  for (Operator* const one : {&to_integers, &to_floats}) {
    one->domain = "com.microsoft";
    one->since = {1};
    one->attributes = {"axis"};
    table.add(std::move(*one));
  }
  table.add({.name = "DynamicQuantizeLinear",
             .since = {11},
             .most_outputs = 3,
             .types = {.operands = {ElementType::f32},
                       .results = {ElementType::u8, ElementType::f32, ElementType::u8}},
             .lower = &dynamic_quantize});
}

}  // namespace stoker::onnx::operators::quantization
