// The tensors' operations as scripts call them. Those that stand for functions of the program, for leaves of
// the graph or for gradients are none that a script could call.
#include <algorithm>

#include "stoker/kernels/rules.hpp"
#include "stoker/pipeline/script/operations/operation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::script {
namespace {

using expr::scalar;
using expr::Value;

void check_arity(const std::string& name, std::size_t expected, std::size_t got) {
  if (got == expected) return;
  throw Error{name,
              ErrorCode::arity_mismatch,
              "takes " + std::to_string(expected) + (expected == 1 ? " input" : " inputs") +
                  ", got " + std::to_string(got),
              {{"expected", std::to_string(expected)}, {"got", std::to_string(got)}}};
}

/// `apply` is called with as many inputs as the operation takes.
template <class Apply> Operation operation(const char* name, std::size_t inputs, Apply apply) {
  Operation made;
  made.name = name;
  made.inputs = {inputs, inputs};
  made.apply = [name = made.name, inputs, apply](const OperationCall& call) {
    check_arity(name, inputs, call.inputs.size());
    return std::vector<Value>{apply(call)};
  };
  return made;
}

/// A function of single elements, or another without parameters.
Operation plain(const expr::Op& op) {
  return operation(op.name.c_str(), op.inputs.min, [&op](const OperationCall& call) {
    return expr::apply_one(op, {call.inputs.begin(), call.inputs.end()});
  });
}

ParamSpec integers(const char* name, const char* doc, bool required) {
  ParamSpec spec{.name = name, .type = ParamType::integers, .fallback = {}, .doc = doc};
  if (!required) spec.fallback = ParamValue{std::vector<std::int64_t>{}};
  return spec;
}

/// Whether a remainder that truncation left has to be put right: it is not 0 and its sign is not the
/// divisor's. All in the remainder's shape, so that it is one kernel with it.
Value other_side(const Value& remainder, const Value& given) {
  const Value divisor = expr::broadcast_to(given, remainder.shape());
  const Value zero = expr::constant(0, divisor.dtype());
  return scalar(
      "logical_and",
      {scalar("not_equal", {remainder, zero}),
       scalar("not_equal", {scalar("less", {remainder, zero}), scalar("less", {divisor, zero})})});
}

/// Lua's //: the quotient rounded down.
Value floor_divided(const OperationCall& call) {
  const Value &a = call.x(0), &b = call.x(1);
  if (!is_integer(a.dtype())) return scalar("floor", {a / b});
  const Value quotient = scalar("quotient", {a, b});
  if (!is_signed(a.dtype())) return quotient;
  return expr::select(other_side(scalar("remainder", {a, b}), b), quotient - 1.0, quotient);
}

/// Lua's %: what // leaves, with the sign of the divisor.
Value modulo(const OperationCall& call) {
  const Value &a = call.x(0), &b = call.x(1);
  const Value remainder = scalar("remainder", {a, b});
  if (is_integer(a.dtype()) && !is_signed(a.dtype())) return remainder;
  return expr::select(other_side(remainder, b), remainder + b, remainder);
}

/// Any condition, as tensors take it.
Value selected(const OperationCall& call) {
  const Value& given = call.x(0);
  const Value condition = size_of(given.dtype()) == 1
                              ? given
                              : scalar("not_equal", {given, expr::constant(0, given.dtype())});
  return expr::select(condition, call.x(1), call.x(2));
}

std::int64_t checked_axis(const char* op, const char* parameter, std::int64_t axis,
                          const Shape& shape) {
  return static_cast<std::int64_t>(rules::axis(op, parameter, axis, shape.rank()).value());
}

Operation reversal() {
  Operation made = operation("reverse", 1, [](const OperationCall& call) {
    const Shape& shape = call.x().shape();
    std::vector<std::int64_t> axes = call.params.integers("axes");
    if (axes.empty()) axes = expr::all_axes(shape.rank());
    for (std::int64_t& axis : axes) axis = checked_axis("reverse", "axes", axis, shape);
    return expr::reverse(call.x(), axes);
  });
  made.params = {integers(
      "axes", "the axes to reverse; a negative one counts from the end; empty: all", false)};
  return made;
}

Operation broadcasting() {
  Operation made = operation("broadcast", 1, [](const OperationCall& call) {
    const Shape shape = Shape::make(call.params.integers("shape"), "broadcast");
    const Value& x = call.x();
    if (x.shape().rank() > shape.rank())
      throw Error{"broadcast",
                  ErrorCode::shape_mismatch,
                  "shape mismatch: " + x.shape().to_string() + " does not broadcast to " +
                      shape.to_string(),
                  {{"input", x.spec().to_string()}, {"shape", shape.to_string()}}};
    std::vector<std::int64_t> axes = call.params.integers("axes");
    if (axes.empty()) return expr::broadcast_to(x, shape);
    for (std::int64_t& axis : axes) axis = checked_axis("broadcast", "axes", axis, shape);
    return expr::broadcast_axes(x, shape, axes);
  });
  made.params = {
      integers("shape", "extents of the output", true),
      integers("axes", "the output axis of each input axis; empty: the last ones", false)};
  return made;
}

Operation positions() {
  Operation made = operation("iota", 0, [](const OperationCall& call) {
    const Shape shape = Shape::make(call.params.integers("shape"), "iota");
    const DType dtype = parse_dtype(call.params.text("dtype")).value_or(DType::f32);
    const std::int64_t axis = call.params.integer("axis");
    if (axis < 0) return expr::iota({dtype, shape});
    return expr::iota({dtype, shape},
                      static_cast<std::size_t>(checked_axis("iota", "axis", axis, shape)));
  });
  ParamSpec dtype{.name = "dtype",
                  .type = ParamType::text,
                  .fallback = ParamValue{std::string{"f32"}},
                  .doc = "dtype of the output"};
  for (const DType one : rules::numeric_dtypes()) dtype.choices.emplace_back(to_string(one));
  made.params = {integers("shape", "extents of the output", true),
                 dtype,
                 {.name = "axis",
                  .type = ParamType::integer,
                  .fallback = ParamValue{std::int64_t{-1}},
                  .doc = "the axis along which elements count up; -1: over all elements",
                  .min = -1}};
  return made;
}

}  // namespace

std::vector<Operation> tensor_operations() {
  std::vector<Operation> made;
  for (const expr::Op* op : expr::op_table().list()) {
    if (op->name == "cast" || op->name == "select" || op->name == "transpose_copy") continue;
    if (op->kind == expr::OpKind::scalar) made.push_back(plain(*op));
    if (op->kind == expr::OpKind::kernel && !op->computed_by.empty())
      made.push_back(
          kernel_operation(op->name, KernelRegistry::builtin().find(op->computed_by).value()));
  }
  for (const char* name : {"view_as_real", "view_as_complex"})
    made.push_back(plain(expr::find_op(name)));
  Operation select = operation("select", 3, &selected);
  select.aliases = {"where"};
  select.conditions = 1;
  made.push_back(std::move(select));
  made.push_back(operation("floor_divide", 2, &floor_divided));
  made.push_back(operation("modulo", 2, &modulo));
  made.push_back(reversal());
  made.push_back(broadcasting());
  made.push_back(positions());
  return made;
}

}  // namespace stoker::script
