// Functions of single elements: kernels/scalar says what they are and which dtypes they take. Here are their
// shape rule and their gradients, which are textbook derivatives.
#include <cmath>
#include <numbers>

#include "stoker/kernels/scalar/function.hpp"
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::elementwise {
namespace {

using Rule = std::function<Values(const Backward&)>;

std::string_view wanted(ScalarOperands takes) {
  switch (takes) {
    case ScalarOperands::numeric: return "a number";
    case ScalarOperands::floats: return "a float";
    case ScalarOperands::integers: return "an integer";
    case ScalarOperands::any: break;
  }
  return "any dtype";
}

bool fits(ScalarOperands takes, DType dtype) {
  switch (takes) {
    case ScalarOperands::numeric: return dtype != DType::boolean;
    case ScalarOperands::floats: return is_float(dtype);
    case ScalarOperands::integers: return is_integer(dtype);
    case ScalarOperands::any: break;
  }
  return true;
}

Result<Shape> common_shape(const std::string& name, std::span<const TensorSpec> inputs) {
  Shape shape = inputs[0].shape;
  for (const TensorSpec& input : inputs.subspan(1)) {
    const auto both = broadcast(shape, input.shape);
    if (!both)
      return Error{name,
                   ErrorCode::shape_mismatch,
                   "shape mismatch: lhs " + shape.to_string() + ", rhs " + input.shape.to_string(),
                   {{"lhs", shape.to_string()}, {"rhs", input.shape.to_string()}}};
    shape = *both;
  }
  return shape;
}

Result<Specs> infer(const ScalarFunction& function, const OpCall& call) {
  const std::string name{function.name};
  const DType dtype = call.input().dtype;
  for (const TensorSpec& input : call.inputs)
    if (input.dtype != dtype)
      return Error{name,
                   ErrorCode::dtype_mismatch,
                   "dtype mismatch: lhs " + call.input().to_string() + ", rhs " + input.to_string(),
                   {{"lhs", call.input().to_string()}, {"rhs", input.to_string()}}};
  if (!fits(function.takes, dtype))
    return Error{
        name,
        ErrorCode::dtype_mismatch,
        "expected " + std::string{wanted(function.takes)} + ", got " + call.input().to_string(),
        {{"expected", std::string{wanted(function.takes)}}, {"got", call.input().to_string()}}};
  STOKER_ASSIGN(const Shape shape, common_shape(name, call.inputs));
  return Specs{TensorSpec{function.result == ScalarResult::truth ? DType::u8 : dtype, shape}};
}

/// What was broadcast is summed up again.
Rule summed(Rule rule) {
  return [rule = std::move(rule)](const Backward& back) {
    Values gradients = rule(back);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i]) gradients[i] = sum_to(gradients[i], back.x(i).shape());
    return gradients;
  };
}

class Definer {
 public:
  explicit Definer(OpTable& table) : table_{&table} {}

  /// The scalar function of that name. Without a gradient rule its gradient is zero.
  void operator()(std::string_view name, Rule gradient = {}, const char* remark = nullptr) const {
    Op op = made(name);
    if (remark) op.summary.append("; ").append(remark);
    op.zero_gradient = !gradient;
    if (gradient) op.gradient = summed(std::move(gradient));
    table_->add(std::move(op));
  }
  void without_gradient(std::string_view name) const { table_->add(made(name)); }

 private:
  static Op made(std::string_view name) {
    const ScalarFunction& function = *find_scalar_function(name).value();
    Op op;
    op.name = name;
    op.kind = OpKind::scalar;
    op.inputs = {function.arity, function.arity};
    op.summary = function.summary;
    op.infer = [&function](const OpCall& call) { return infer(function, call); };
    op.batch = &batch_elements;
    return op;
  }

  OpTable* table_;
};

/// 1, ½ or 0: the share of `a` in max(a, b), where the sign turns it into min's.
Value share(const char* greater, const Value& a, const Value& b) {
  const DType dtype = a.dtype();
  return select(scalar(greater, {a, b}), constant(1, dtype),
                select(scalar("equal", {a, b}), constant(0.5, dtype), constant(0, dtype)));
}

/// The base of a power; 1 where the exponent is 0 and the reciprocal of the base no number, which shall be
/// 0 times as much.
Value safe_base(const Backward& b) {
  const Value& base = b.x(0);
  const Value& exponent = b.x(1);
  const auto number = constant_of(exponent);
  if (number && *number != 0) return base;
  const DType dtype = base.dtype();
  // Between it and 0 a reciprocal may be infinite.
  const double least = dtype == DType::f64 ? 0x1p-1022 : dtype == DType::f16 ? 0x1p-14 : 0x1p-126;
  const Value large = scalar("greater_equal", {scalar("abs", {base}), constant(least, dtype)});
  const Value used =
      scalar("logical_or", {large, scalar("not_equal", {exponent, constant(0, dtype)})});
  return select(used, base, constant(1, dtype));
}

/// The larger of two sizes, or 1 where that is 0 or infinite. Gradients need not pass: what is scaled by it
/// does not depend on it. Of f32 at most 2^126: division by more is undefined in SPIR-V.
Value longer_side(const Value& a, const Value& b) {
  static constinit NamedOp stop{"stop_gradient"};
  const DType dtype = a.dtype();
  const Value largest = scalar("max", {scalar("abs", {a}), scalar("abs", {b})});
  const Value useless = scalar("logical_or", {scalar("equal", {largest, constant(0, dtype)}),
                                              scalar("is_infinity", {largest})});
  const Value divisor =
      dtype == DType::f32 ? scalar("min", {largest, constant(0x1p126, dtype)}) : largest;
  return apply_one(stop, {select(useless, constant(1, dtype), divisor)});
}

void arithmetic(Definer define) {
  define("add", [](const Backward& b) { return Values{b.g(), b.g()}; });
  define("subtract", [](const Backward& b) { return Values{b.g(), -b.g()}; });
  define("multiply", [](const Backward& b) { return Values{b.g() * b.x(1), b.g() * b.x(0)}; });
  define("divide", [](const Backward& b) {
    const Value first = b.g() / b.x(1);
    return Values{first, -(first * b.y())};
  });
  define("remainder", [](const Backward& b) {
    // Of truncated division; equal to -floor(a / b) where that is not negative.
    const Value quotient = b.x(0) / b.x(1);
    const Value whole = scalar("sign", {quotient}) * scalar("floor", {scalar("abs", {quotient})});
    return Values{b.g(), -(b.g() * whole)};
  });
  define("pow", [](const Backward& b) {
    const Value zero = constant(0, b.x().dtype());
    const Value base = b.g() * (b.x(1) * scalar("pow", {safe_base(b), b.x(1) - 1.0}));
    // The logarithm of 1 where the base is 0: its own gradient must not be NaN either.
    const Value is_zero = scalar("equal", {b.x(0), zero});
    const Value log = scalar("log", {select(is_zero, constant(1, b.x().dtype()), b.x(0))});
    return Values{base, b.g() * select(is_zero, zero, b.y() * log)};
  });
  define("atan2", [](const Backward& b) {
    // By the longer side, so that squares neither overflow nor vanish.
    const Value scale = longer_side(b.x(0), b.x(1));
    const Value y = b.x(0) / scale;
    const Value x = b.x(1) / scale;
    const Value square = y * y + x * x;
    return Values{b.g() * x / square / scale, -(b.g() * y / square / scale)};
  });
  define(
      "max",
      [](const Backward& b) {
        return Values{b.g() * share("greater", b.x(0), b.x(1)),
                      b.g() * share("greater", b.x(1), b.x(0))};
      },
      "where a = b, each has half of the gradient");
  define(
      "min",
      [](const Backward& b) {
        return Values{b.g() * share("less", b.x(0), b.x(1)), b.g() * share("less", b.x(1), b.x(0))};
      },
      "where a = b, each has half of the gradient");
  define("negate", [](const Backward& b) { return Values{-b.g()}; });
  define(
      "abs", [](const Backward& b) { return Values{b.g() * scalar("sign", {b.x()})}; },
      "the gradient at 0 is 0");
}

void exponential(Definer define) {
  define("exp", [](const Backward& b) { return Values{b.g() * b.y()}; });
  define("expm1", [](const Backward& b) { return Values{b.g() * (b.y() + 1.0)}; });
  define("log", [](const Backward& b) { return Values{b.g() / b.x()}; });
  define("log1p", [](const Backward& b) { return Values{b.g() / (b.x() + 1.0)}; });
  define("sigmoid", [](const Backward& b) { return Values{b.g() * b.y() * (1.0 - b.y())}; });
  define("sqrt", [](const Backward& b) { return Values{b.g() * 0.5 / b.y()}; });
  define("rsqrt", [](const Backward& b) { return Values{b.g() * -0.5 * b.y() * b.y() * b.y()}; });
  define("cbrt", [](const Backward& b) { return Values{b.g() / (b.y() * b.y() * 3.0)}; });
  define("erf", [](const Backward& b) {
    return Values{b.g() * (2 * std::numbers::inv_sqrtpi) * scalar("exp", {-(b.x() * b.x())})};
  });
  define("erfc", [](const Backward& b) {
    return Values{b.g() * (-2 * std::numbers::inv_sqrtpi) * scalar("exp", {-(b.x() * b.x())})};
  });
  define("erf_inv", [](const Backward& b) {
    return Values{b.g() * (0.5 / std::numbers::inv_sqrtpi) * scalar("exp", {b.y() * b.y()})};
  });
}

void trigonometric(Definer define) {
  const auto of = [](const char* name, const Value& x) { return scalar(name, {x}); };
  define("sin", [of](const Backward& b) { return Values{b.g() * of("cos", b.x())}; });
  define("cos", [of](const Backward& b) { return Values{-(b.g() * of("sin", b.x()))}; });
  define("tan", [](const Backward& b) { return Values{b.g() * (b.y() * b.y() + 1.0)}; });
  define("asin", [of](const Backward& b) {
    return Values{b.g() * of("rsqrt", (1.0 - b.x()) * (b.x() + 1.0))};
  });
  define("acos", [of](const Backward& b) {
    return Values{-(b.g() * of("rsqrt", (1.0 - b.x()) * (b.x() + 1.0)))};
  });
  define("atan", [](const Backward& b) { return Values{b.g() / (b.x() * b.x() + 1.0)}; });
  define("sinh", [of](const Backward& b) { return Values{b.g() * of("cosh", b.x())}; });
  define("cosh", [of](const Backward& b) { return Values{b.g() * of("sinh", b.x())}; });
  define("tanh", [](const Backward& b) { return Values{b.g() * (1.0 - b.y() * b.y())}; });
  define("asinh",
         [of](const Backward& b) { return Values{b.g() * of("rsqrt", b.x() * b.x() + 1.0)}; });
  define("acosh", [of](const Backward& b) {
    return Values{b.g() * of("rsqrt", (b.x() - 1.0) * (b.x() + 1.0))};
  });
  define("atanh",
         [](const Backward& b) { return Values{b.g() / ((1.0 - b.x()) * (b.x() + 1.0))}; });
}

/// Steps, and functions of integers.
void flat(Definer define) {
  for (const char* name : {"sign", "floor", "ceil", "round"}) define(name);
  for (const ScalarFunction* function : scalar_functions())
    if (function->name == "quotient")
      define.without_gradient(function->name);
    else if (function->result == ScalarResult::truth || function->takes == ScalarOperands::integers)
      define(function->name);
}

Result<Specs> infer_cast(const OpCall& call) {
  const auto dtype = parse_dtype(call.attributes.text("dtype"));
  return Specs{TensorSpec{*dtype, call.input().shape}};
}

Result<Specs> infer_select(const OpCall& call) {
  const TensorSpec& condition = call.input();
  if (size_of(condition.dtype) != 1)
    return Error{"select",
                 ErrorCode::dtype_mismatch,
                 "the condition is u8 or bool",
                 {{"got", condition.to_string()}}};
  static const ScalarFunction& function = *find_scalar_function("select").value();
  STOKER_ASSIGN(const Specs chosen, infer(function, {call.inputs.subspan(1), call.attributes}));
  const auto shape = broadcast(condition.shape, chosen[0].shape);
  if (!shape)
    return Error{"select",
                 ErrorCode::shape_mismatch,
                 "shape mismatch: condition " + condition.shape.to_string() + ", values " +
                     chosen[0].shape.to_string(),
                 {{"condition", condition.to_string()}, {"values", chosen[0].to_string()}}};
  return Specs{TensorSpec{chosen[0].dtype, *shape}};
}

void choices(OpTable& table) {
  Op cast;
  cast.name = "cast";
  cast.kind = OpKind::scalar;
  cast.inputs = {1, 1};
  cast.summary = find_scalar_function("cast").value()->summary;
  cast.infer = &infer_cast;
  cast.batch = &batch_elements;
  cast.gradient = [](const Backward& b) {
    if (!is_float(b.x().dtype()) || !is_float(b.y().dtype())) return Values{Value{}};
    return Values{expr::cast(b.g(), b.x().dtype())};
  };
  table.add(std::move(cast));

  Op select;
  select.name = "select";
  select.kind = OpKind::scalar;
  select.inputs = {3, 3};
  select.summary = find_scalar_function("select").value()->summary;
  select.infer = &infer_select;
  select.batch = &batch_elements;
  select.gradient = summed([](const Backward& b) {
    const Value zero = constant(0, b.g().dtype());
    return Values{Value{}, expr::select(b.x(0), b.g(), zero), expr::select(b.x(0), zero, b.g())};
  });
  table.add(std::move(select));
}

}  // namespace

void define(OpTable& table) {
  const Definer definer{table};
  arithmetic(definer);
  exponential(definer);
  trigonometric(definer);
  flat(definer);
  choices(table);
}

}  // namespace stoker::expr::ops::elementwise
