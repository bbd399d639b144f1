// Functions of single elements: kernels/fused/functions computes them. Here are their shape and dtype
// rules and their gradients, which are textbook derivatives.
#include <cmath>
#include <numbers>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::elementwise {
namespace {

using Rule = std::function<Values(const Backward&)>;

/// Which dtypes an operand may have.
enum class Takes : std::uint8_t { any, numbers, floats, integers };
enum class Gives : std::uint8_t { same, truth };

std::string_view wanted(Takes takes) {
  switch (takes) {
    case Takes::numbers: return "a number";
    case Takes::floats: return "a float";
    case Takes::integers: return "an integer";
    case Takes::any: break;
  }
  return "any dtype";
}

bool fits(Takes takes, DType dtype) {
  switch (takes) {
    case Takes::numbers: return dtype != DType::boolean;
    case Takes::floats: return is_float(dtype);
    case Takes::integers: return is_integer(dtype);
    case Takes::any: break;
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

Result<Specs> infer(const std::string& name, Takes takes, Gives gives, const OpCall& call) {
  const DType dtype = call.input().dtype;
  for (const TensorSpec& input : call.inputs)
    if (input.dtype != dtype)
      return Error{name,
                   ErrorCode::dtype_mismatch,
                   "dtype mismatch: lhs " + call.input().to_string() + ", rhs " + input.to_string(),
                   {{"lhs", call.input().to_string()}, {"rhs", input.to_string()}}};
  if (!fits(takes, dtype))
    return Error{name,
                 ErrorCode::dtype_mismatch,
                 "expected " + std::string{wanted(takes)} + ", got " + call.input().to_string(),
                 {{"expected", std::string{wanted(takes)}}, {"got", call.input().to_string()}}};
  STOKER_ASSIGN(const Shape shape, common_shape(name, call.inputs));
  return Specs{TensorSpec{gives == Gives::truth ? DType::u8 : dtype, shape}};
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

  void function(const char* name, std::size_t arity, Takes takes, const char* summary,
                Rule gradient = {}, Gives gives = Gives::same) {
    Op op;
    op.name = name;
    op.kind = OpKind::scalar;
    op.inputs = {arity, arity};
    op.summary = summary;
    op.infer = [name = std::string{name}, takes, gives](const OpCall& call) {
      return infer(name, takes, gives, call);
    };
    op.zero_gradient = !gradient;
    op.batch = &batch_elements;
    if (gradient) op.gradient = summed(std::move(gradient));
    table_->add(std::move(op));
  }
  void unary(const char* name, const char* summary, Rule gradient) {
    function(name, 1, Takes::floats, summary, std::move(gradient));
  }
  void truth(const char* name, std::size_t arity, const char* summary) {
    function(name, arity, Takes::any, summary, {}, Gives::truth);
  }

 private:
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
  define.function("add", 2, Takes::numbers, "a + b; integers wrap", [](const Backward& b) {
    return Values{b.g(), b.g()};
  });
  define.function("subtract", 2, Takes::numbers, "a - b; integers wrap", [](const Backward& b) {
    return Values{b.g(), -b.g()};
  });
  define.function("multiply", 2, Takes::numbers, "a * b; integers wrap", [](const Backward& b) {
    return Values{b.g() * b.x(1), b.g() * b.x(0)};
  });
  define.function("divide", 2, Takes::floats, "a / b", [](const Backward& b) {
    const Value first = b.g() / b.x(1);
    return Values{first, -(first * b.y())};
  });
  define.function("remainder", 2, Takes::numbers,
                  "a - b * trunc(a / b): the sign is the dividend's; x rem 0 of integers is 0",
                  [](const Backward& b) {
                    // Of truncated division; equal to -floor(a / b) where that is not negative.
                    const Value quotient = b.x(0) / b.x(1);
                    const Value whole =
                        scalar("sign", {quotient}) * scalar("floor", {scalar("abs", {quotient})});
                    return Values{b.g(), -(b.g() * whole)};
                  });
  define.function("pow", 2, Takes::numbers, "a to the power of b; 0^0 = 1", [](const Backward& b) {
    const Value zero = constant(0, b.x().dtype());
    const Value base = b.g() * (b.x(1) * scalar("pow", {safe_base(b), b.x(1) - 1.0}));
    // The logarithm of 1 where the base is 0: its own gradient must not be NaN either.
    const Value is_zero = scalar("equal", {b.x(0), zero});
    const Value log = scalar("log", {select(is_zero, constant(1, b.x().dtype()), b.x(0))});
    return Values{base, b.g() * select(is_zero, zero, b.y() * log)};
  });
  define.function("atan2", 2, Takes::floats, "the angle of (b, a), by quadrant",
                  [](const Backward& b) {
                    // By the longer side, so that squares neither overflow nor vanish.
                    const Value scale = longer_side(b.x(0), b.x(1));
                    const Value y = b.x(0) / scale;
                    const Value x = b.x(1) / scale;
                    const Value square = y * y + x * x;
                    return Values{b.g() * x / square / scale, -(b.g() * y / square / scale)};
                  });
  define.function("max", 2, Takes::any, "the larger; NaN wins; a tie halves the gradient",
                  [](const Backward& b) {
                    return Values{b.g() * share("greater", b.x(0), b.x(1)),
                                  b.g() * share("greater", b.x(1), b.x(0))};
                  });
  define.function(
      "min", 2, Takes::any, "the smaller; NaN wins; a tie halves the gradient",
      [](const Backward& b) {
        return Values{b.g() * share("less", b.x(0), b.x(1)), b.g() * share("less", b.x(1), b.x(0))};
      });
  define.function("negate", 1, Takes::numbers, "-a; integers wrap",
                  [](const Backward& b) { return Values{-b.g()}; });
  define.function("abs", 1, Takes::numbers, "|a|; the gradient at 0 is 0",
                  [](const Backward& b) { return Values{b.g() * scalar("sign", {b.x()})}; });
  define.function("sign", 1, Takes::numbers, "-1, 0 or 1; keeps a zero's sign and NaN");
  define.function("floor", 1, Takes::numbers, "the next integer below");
  define.function("ceil", 1, Takes::numbers, "the next integer above");
  define.function("round", 1, Takes::numbers, "the nearest integer, halves away from 0");
}

void exponential(Definer define) {
  define.unary("exp", "e^a", [](const Backward& b) { return Values{b.g() * b.y()}; });
  define.unary("expm1", "e^a - 1, accurate near 0",
               [](const Backward& b) { return Values{b.g() * (b.y() + 1.0)}; });
  define.unary("log", "ln a; NaN below 0", [](const Backward& b) { return Values{b.g() / b.x()}; });
  define.unary("log1p", "ln(1 + a), accurate near 0",
               [](const Backward& b) { return Values{b.g() / (b.x() + 1.0)}; });
  define.unary("sigmoid", "1 / (1 + e^-a)",
               [](const Backward& b) { return Values{b.g() * b.y() * (1.0 - b.y())}; });
  define.unary("sqrt", "√a", [](const Backward& b) { return Values{b.g() * 0.5 / b.y()}; });
  define.unary("rsqrt", "1 / √a",
               [](const Backward& b) { return Values{b.g() * -0.5 * b.y() * b.y() * b.y()}; });
  define.unary("cbrt", "the cube root",
               [](const Backward& b) { return Values{b.g() / (b.y() * b.y() * 3.0)}; });
  define.unary("erf", "the error function", [](const Backward& b) {
    return Values{b.g() * (2 * std::numbers::inv_sqrtpi) * scalar("exp", {-(b.x() * b.x())})};
  });
  define.unary("erfc", "1 - erf(a)", [](const Backward& b) {
    return Values{b.g() * (-2 * std::numbers::inv_sqrtpi) * scalar("exp", {-(b.x() * b.x())})};
  });
  define.unary("erf_inv", "what erf maps to a", [](const Backward& b) {
    return Values{b.g() * (0.5 / std::numbers::inv_sqrtpi) * scalar("exp", {b.y() * b.y()})};
  });
}

void trigonometric(Definer define) {
  const auto of = [](const char* name, const Value& x) { return scalar(name, {x}); };
  define.unary("sin", "sine", [of](const Backward& b) { return Values{b.g() * of("cos", b.x())}; });
  define.unary("cos", "cosine",
               [of](const Backward& b) { return Values{-(b.g() * of("sin", b.x()))}; });
  define.unary("tan", "tangent",
               [](const Backward& b) { return Values{b.g() * (b.y() * b.y() + 1.0)}; });
  define.unary("asin", "the angle of a sine", [of](const Backward& b) {
    return Values{b.g() * of("rsqrt", (1.0 - b.x()) * (b.x() + 1.0))};
  });
  define.unary("acos", "the angle of a cosine", [of](const Backward& b) {
    return Values{-(b.g() * of("rsqrt", (1.0 - b.x()) * (b.x() + 1.0)))};
  });
  define.unary("atan", "the angle of a tangent",
               [](const Backward& b) { return Values{b.g() / (b.x() * b.x() + 1.0)}; });
  define.unary("sinh", "hyperbolic sine",
               [of](const Backward& b) { return Values{b.g() * of("cosh", b.x())}; });
  define.unary("cosh", "hyperbolic cosine",
               [of](const Backward& b) { return Values{b.g() * of("sinh", b.x())}; });
  define.unary("tanh", "hyperbolic tangent",
               [](const Backward& b) { return Values{b.g() * (1.0 - b.y() * b.y())}; });
  define.unary("asinh", "inverse of sinh", [of](const Backward& b) {
    return Values{b.g() * of("rsqrt", b.x() * b.x() + 1.0)};
  });
  define.unary("acosh", "inverse of cosh", [of](const Backward& b) {
    return Values{b.g() * of("rsqrt", (b.x() - 1.0) * (b.x() + 1.0))};
  });
  define.unary("atanh", "inverse of tanh",
               [](const Backward& b) { return Values{b.g() / ((1.0 - b.x()) * (b.x() + 1.0))}; });
}

void truths(Definer define) {
  define.truth("equal", 2, "a == b");
  define.truth("not_equal", 2, "a != b; true if either is NaN");
  define.truth("less", 2, "a < b");
  define.truth("less_equal", 2, "a <= b");
  define.truth("greater", 2, "a > b");
  define.truth("greater_equal", 2, "a >= b");
  define.truth("logical_and", 2, "both are not 0");
  define.truth("logical_or", 2, "one is not 0");
  define.truth("logical_xor", 2, "one and only one is not 0");
  define.truth("logical_not", 1, "it is 0");
  define.truth("is_nan", 1, "it is NaN");
  define.truth("is_infinity", 1, "it is infinite");
}

void bits(Definer define) {
  const auto integers = [&](const char* name, std::size_t arity, const char* summary) {
    define.function(name, arity, Takes::integers, summary);
  };
  integers("bitwise_and", 2, "a & b");
  integers("bitwise_or", 2, "a | b");
  integers("bitwise_xor", 2, "a ^ b");
  integers("bitwise_not", 1, "~a");
  integers("left_shift", 2, "a << b; 0 from the width on");
  integers("right_shift", 2, "a >> b, arithmetic if signed");
  integers("population_count", 1, "bits that are set");
  integers("count_leading_zeros", 1, "zeros above the highest bit that is set");
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
  STOKER_ASSIGN(const Specs chosen, infer("select", Takes::any, Gives::same,
                                          {call.inputs.subspan(1), call.attributes}));
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
  cast.summary = "as another dtype; floats to integers truncate and saturate, NaN gives 0";
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
  select.summary = "b where a is not 0, else c";
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
  truths(definer);
  bits(definer);
  choices(table);
  Op quotient;
  quotient.name = "quotient";
  quotient.kind = OpKind::scalar;
  quotient.inputs = {2, 2};
  quotient.summary = "a / b of integers, truncated toward 0; x / 0 is 0";
  quotient.infer = [](const OpCall& call) {
    return infer("quotient", Takes::integers, Gives::same, call);
  };
  quotient.batch = &batch_elements;
  table.add(std::move(quotient));
}

}  // namespace stoker::expr::ops::elementwise
