// The domain com.microsoft: operators on 8-bit integers that ONNX's own domain has for floats. Operands
// become floats, the operator's own rule computes, the result becomes integers, halves to even. Scales and
// zero points are for all elements. https://onnxruntime.ai/docs/reference/operators/ContribOperators.html
#include "stoker/api/onnx/core/channel_axis.hpp"
#include "stoker/api/onnx/core/expected_shape.hpp"
#include "stoker/api/onnx/core/integer_sums.hpp"
#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::microsoft::quantized {
namespace {

/// ONNX's own operators add the zero point to what is rounded. ONNX Runtime's sums, products and pools round
/// the sum, which an odd zero point turns halves round by.
enum class Rounds { before_zero_point, with_zero_point };

/// Operand i as it is, of the type of operand `like`.
Tensor integers(const Call& call, std::size_t i, std::size_t like) {
  const ElementType type = call.type(i);
  if (type != ElementType::u8 && type != ElementType::s8)
    call.refuse(ErrorCode::dtype_mismatch,
                "expected uint8 or int8, got " + call.input(i).to_string());
  if (type != call.type(like))
    call.refuse(ErrorCode::dtype_mismatch, "expected " + std::string{to_string(call.type(like))} +
                                               " as " + call.input(like).to_string() + " is, got " +
                                               call.input(i).to_string());
  return call.x(i);
}

/// The scale at i, and the zero point that follows it as a float if it is given.
Tensor scale_at(const Call& call, std::size_t i) {
  expect_shape(call, i, "scale", {{}, {1}});
  return reshape(as_type(call.x(i), DType::f32), Shape{});
}
std::optional<Tensor> zero_point_at(const Call& call, std::size_t i, std::size_t like) {
  if (!call.has(i)) return {};
  expect_shape(call, i, "zero point", {{}, {1}});
  return reshape(as_type(integers(call, i, like), DType::f32), Shape{});
}

/// The floats of the numbers at i, whose scale and zero point follow. All are of the type of operand `like`.
Value dequantized(const Call& call, std::size_t i, std::size_t like) {
  Tensor x = as_type(integers(call, i, like), DType::f32);
  if (const auto zero = zero_point_at(call, i + 2, like)) x = x - *zero;
  return Value{x * scale_at(call, i + 1)};
}

/// Floats as numbers of the type of operand `like`, with the scale at i and the zero point that follows.
Values quantized(const Call& call, const Value& x, std::size_t i, std::size_t like,
                 Rounds rounds = Rounds::before_zero_point) {
  const ElementType type = call.type(like);
  const IntegerEnds ends = integer_ends(type).value();
  Tensor y = x.tensor() / scale_at(call, i);
  std::optional<Tensor> zero = zero_point_at(call, i + 1, like);
  if (zero && rounds == Rounds::with_zero_point) {
    y = y + *zero;
    zero.reset();
  }
  return {call.like(stoker::onnx::quantized(y, zero, ends.low, ends.high), like)};
}

/// What the rule of `op` makes of one operand.
Values of_one(const Call& call, const Node& node, const char* op, int version, Rounds rounds) {
  Value x = dequantized(call, 0, 0);
  const bool is_turned = node.flag("channels_last", false);
  if (is_turned) x = Value{channels_first(x.tensor())};
  Value y = rule_of(call, node, op, version, {x}).at(0);
  if (is_turned) y = Value{channels_last(y.tensor())};
  return quantized(call, y, 3, 0, rounds);
}

Values softmax_rule(Call& call) {
  const std::int64_t axis = call.node().integer("axis", -1);
  // Before version 13 of Softmax the axes from `axis` on were one.
  const int version = call.node().integer("opset") < 13 ? 11 : 13;
  return of_one(call, node_with("Softmax", {{.name = "axis", .value = axis, .reference = {}}}),
                "Softmax", version, Rounds::before_zero_point);
}

Values concat_rule(Call& call) {
  if (call.count() % 3 != 2)
    call.refuse(ErrorCode::arity_mismatch, "expected a scale and a zero point for each tensor");
  Values all;
  for (std::size_t i = 2; i < call.count(); i += 3) all.push_back(dequantized(call, i, 2));
  return quantized(call, rule_of(call, call.node(), "Concat", 13, all).at(0), 0, 2);
}

Values where_rule(Call& call) {
  const Values operands{call.input(0), dequantized(call, 1, 1), dequantized(call, 4, 1)};
  return quantized(call, rule_of(call, node_with("Where"), 16, operands).at(0), 7, 1);
}

std::string missing(const Node& node, const char* attribute) {
  return node.has(attribute) ? "" : std::string{attribute} + " is missing";
}

void add_one(OperatorTable& table, const char* name, const char* op, int version,
             std::vector<std::string> attributes, Rounds rounds = Rounds::before_zero_point) {
  table.add({.name = name,
             .domain = "com.microsoft",
             .least_inputs = 4,
             .most_inputs = 5,
             .types = {.operands = {byte_types, float_types, byte_types, float_types, byte_types}},
             .attributes = std::move(attributes),
             .lower = [op, version, rounds](Call& call) {
               return of_one(call, call.node(), op, version, rounds);
             }});
}

void add_two(OperatorTable& table, const char* name, const char* op) {
  table.add({.name = name,
             .domain = "com.microsoft",
             .least_inputs = 7,
             .most_inputs = 8,
             .types = {.operands = {byte_types, float_types, byte_types, byte_types, float_types,
                                    byte_types, float_types, byte_types}},
             .lower = [op](Call& call) {
               const Values both{dequantized(call, 0, 0), dequantized(call, 3, 0)};
               return quantized(call, rule_of(call, node_with(op), 14, both).at(0), 6, 0,
                                Rounds::with_zero_point);
             }});
}

}  // namespace

void define(OperatorTable& table) {
  add_two(table, "QLinearAdd", "Add");
  add_two(table, "QLinearMul", "Mul");
  add_one(table, "QLinearSigmoid", "Sigmoid", 13, {});
  add_one(table, "QLinearLeakyRelu", "LeakyRelu", 16, {"alpha"});
  add_one(table, "QLinearAveragePool", "AveragePool", 11,
          {"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "kernel_shape", "pads",
           "strides"},
          Rounds::with_zero_point);
  add_one(table, "QLinearGlobalAveragePool", "GlobalAveragePool", 1, {"channels_last"});
  const std::string domain = "com.microsoft";
  table.add({.name = "QLinearSoftmax",
             .domain = domain,
             .least_inputs = 5,
             .most_inputs = 5,
             .types = {.operands = {byte_types, float_types, byte_types, float_types, byte_types}},
             .attributes = {"axis", "opset"},
             .refuse = [](const Node& node, int) { return missing(node, "opset"); },
             .lower = &softmax_rule});
  table.add({.name = "QLinearConcat",
             .domain = domain,
             .least_inputs = 5,
             .most_inputs = Operator::any_number,
             .attributes = {"axis"},
             .refuse = [](const Node& node, int) { return missing(node, "axis"); },
             .lower = &concat_rule});
  table.add({.name = "QLinearWhere",
             .domain = domain,
             .least_inputs = 9,
             .most_inputs = 9,
             .types = {.operands = {ElementType::boolean, byte_types, float_types, byte_types,
                                    byte_types, float_types, byte_types, float_types, byte_types}},
             .lower = &where_rule});
}

}  // namespace stoker::onnx::operators::microsoft::quantized
