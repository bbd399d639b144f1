// Products and convolutions of quantised numbers, in integers: ONNX's own, and those of com.microsoft that
// ONNX Runtime's quantizer writes.
#include "stoker/api/onnx/core/integer_sums.hpp"
#include "stoker/api/onnx/core/narrow_floats.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::quantized_products {
namespace {

Values matmul_integer(Call& call) { return {Value{integer_product(call, {0, 2}, {1, 3})}}; }

/// What float8 stands for is multiplied as floats.
Values float8_product(Call& call) {
  for (const std::size_t i : {1, 2, 4, 5, 6, 7})
    if (call.shape(i).elements() != 1)
      call.refuse(ErrorCode::unsupported, "float8 with more than one scale");
  const auto real = [&](std::size_t i) {
    const Values operands{call.input(i), call.input(i + 1), call.input(i + 2)};
    return rule_of(call, node_with("DequantizeLinear"), 21, operands).at(0).tensor();
  };
  const Value product{matmul(real(0), real(3))};
  return rule_of(call, node_with("QuantizeLinear"), 21, {product, call.input(6), call.input(7)});
}

Values qlinear_matmul(Call& call) {
  for (const std::size_t i : {0, 3, 7})
    if (is_narrow_float(call.type(i))) return float8_product(call);
  const Tensor sums = integer_product(call, {0, 2}, {3, 5});
  return {requantized(call, sums, joined_scale(call, 1, 4, 6), 7)};
}

Values conv_integer(Call& call) { return {Value{integer_convolution(call, {0, 2}, {1, 3})}}; }

Values qlinear_conv(Call& call) {
  Tensor sums = integer_convolution(call, {0, 2}, {3, 5});
  Axes by_channel(sums.rank(), 1);
  by_channel[1] = -1;
  if (call.has(8)) sums = sums + reshape(call.x(8), by_channel);
  Tensor scale = joined_scale(call, 1, 4, 6);
  if (scale.rank() == 1) scale = reshape(scale, by_channel);
  return {requantized(call, sums, scale, 7)};
}

// com.microsoft ------------------------------------------------------------------------------------

/// alpha · (A'·B' + C), quantised if y has a scale.
Values qgemm(Call& call) {
  const Node& node = call.node();
  if (call.rank(0) != 2 || call.rank(3) != 2)
    call.refuse(ErrorCode::shape_mismatch, "expected matrices, got " + call.input(0).to_string() +
                                               " and " + call.input(3).to_string());
  Tensor sums = integer_product(call, {0, 2}, {3, 5},
                                {node.flag("transA", false), node.flag("transB", false)});
  if (call.has(6)) sums = sums + call.x(6);
  const bool is_quantized = call.has(7);
  Tensor scale =
      joined_scale(call, 1, 4, is_quantized ? std::optional<std::size_t>{7} : std::nullopt);
  if (const double alpha = node.real("alpha", 1); alpha != 1) scale = scale * alpha;
  if (is_quantized) return {requantized(call, sums, scale, 8)};
  return {Value{as_type(sums, DType::f32) * scale}};
}

/// s32 sums as floats of the type of operand `like`, and what operand `bias` adds.
Value scaled(const Call& call, const Tensor& sums, const Tensor& scale, std::size_t like,
             std::size_t bias) {
  Tensor y = as_type(sums, DType::f32) * scale;
  if (call.has(bias)) y = y + call.x(bias);
  return call.like(y, like);
}

Values matmul_integer_to_float(Call& call) {
  const Tensor sums = integer_product(call, {0, 4}, {1, 5});
  return {scaled(call, sums, joined_scale(call, 2, 3, {}), 2, 6)};
}

Values dynamic_quantize_matmul(Call& call) {
  const DynamicallyQuantized a = dynamically_quantized(call.x());
  QuantizedTensor b{call.x(1), {}};
  if (call.has(3)) b.zero_point = call.x(3);
  const Tensor sums = integer_product({a.numbers, a.zero_point}, b);
  const Tensor scale = call.x(2);
  return {
      scaled(call, sums, a.scale * (scale.size() == 1 ? reshape(scale, Shape{}) : scale), 0, 4)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "MatMulInteger",
             .since = {10},
             .least_inputs = 2,
             .most_inputs = 4,
             .types = {.operands = {byte_types, byte_types, like(0), like(1)},
                       .results = {ElementType::s32}},
             .lower = &matmul_integer});
  table.add({.name = "QLinearMatMul",
             .since = {10, 21},
             .least_inputs = 8,
             .most_inputs = 8,
             .types = {.operands = {byte_types | float8_types, float_types, like(0),
                                    byte_types | float8_types, float_types, like(3), float_types,
                                    byte_types | float8_types},
                       .results = {like(7)}},
             .lower = &qlinear_matmul});
  const std::vector<std::string> windows{"auto_pad",     "dilations", "group",
                                         "kernel_shape", "pads",      "strides"};
  table.add({.name = "ConvInteger",
             .since = {10},
             .least_inputs = 2,
             .most_inputs = 4,
             .types = {.operands = {byte_types, byte_types, like(0), like(1)},
                       .results = {ElementType::s32}},
             .attributes = windows,
             .lower = &conv_integer});
  table.add({.name = "QLinearConv",
             .since = {10},
             .least_inputs = 8,
             .most_inputs = 9,
             .types = {.operands = {byte_types, float_types, like(0), byte_types, float_types,
                                    like(3), float_types, byte_types, ElementType::s32},
                       .results = {like(7)}},
             .attributes = windows,
             .lower = &qlinear_conv});
  const std::string microsoft = "com.microsoft";
  table.add({.name = "QGemm",
             .domain = microsoft,
             .least_inputs = 6,
             .most_inputs = 9,
             .types = {.operands = {byte_types, float_types, like(0), byte_types, float_types,
                                    like(3), ElementType::s32, float_types, byte_types}},
             .attributes = {"alpha", "transA", "transB"},
             .lower = &qgemm});
  table.add({.name = "MatMulIntegerToFloat",
             .domain = microsoft,
             .least_inputs = 4,
             .most_inputs = 7,
             .types = {.operands = {byte_types, byte_types, float_types, float_types, like(0),
                                    like(1), float_types}},
             .lower = &matmul_integer_to_float});
  table.add({.name = "DynamicQuantizeMatMul",
             .domain = microsoft,
             .least_inputs = 3,
             .most_inputs = 5,
             .types = {.operands = {float_types, byte_types, float_types, byte_types, float_types},
                       .results = {like(0)}},
             .lower = &dynamic_quantize_matmul});
}

}  // namespace stoker::onnx::operators::quantized_products
