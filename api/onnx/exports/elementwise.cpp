// Functions of single elements. Truth values are u8 in Stoker and bool in ONNX.
#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx::exports::elementwise {
namespace {

/// An operation and its operator.
using Pair = std::pair<const char*, const char*>;

bool is_narrow(DType dtype) { return is_integer(dtype) && size_of(dtype) < 4; }

/// An operator of its own.
ExportRule direct(const char* op, int since = 1) {
  return [op, since](ExportCall& call) {
    if (call.opset() < since) call.refuse("it needs opset " + std::to_string(since));
    return call.give(call.node(op, call.thin_operands()));
  };
}

/// The same; narrow integers came with opset 14.
ExportRule arithmetic(const char* op) {
  return [op](ExportCall& call) {
    if (is_narrow(call.dtype()) && call.opset() < 14)
      call.refuse("for " + std::string{to_string(call.dtype())} + " it needs opset 14");
    return call.give(call.node(op, call.thin_operands()));
  };
}

/// Unsigned integers have no operator.
Names negate(ExportCall& call) {
  const DType dtype = call.dtype();
  const Names x = call.thin_operands();
  if (is_float(dtype) || is_signed(dtype)) return call.give(call.node("Neg", x));
  if (is_narrow(dtype) && call.opset() < 14)
    call.refuse("for " + std::string{to_string(dtype)} + " it needs opset 14");
  return call.give(call.node("Sub", {call.graph().scalar(0, dtype), x[0]}));
}

Names pow(ExportCall& call) {
  const DType dtype = call.dtype();
  if (!is_float(dtype) && dtype != DType::s32 && dtype != DType::s64)
    call.refuse("ONNX has no powers of " + std::string{to_string(dtype)});
  return call.give(call.node("Pow", call.thin_operands()));
}

/// Of floats; integers stay as they are.
ExportRule rounding(const char* op) {
  return [op](ExportCall& call) {
    const Names x = call.thin_operands();
    return call.give(is_float(call.dtype()) ? call.node(op, x) : x[0]);
  };
}

/// Where ONNX answers with bool.
Names as_number(ExportCall& call, const std::string& truth) {
  return call.give(call.cast(truth, DType::boolean, DType::u8));
}

ExportRule comparison(const char* op) {
  return [op](ExportCall& call) {
    Names x = call.thin_operands();
    const bool is_order = std::string_view{op} != "Equal";
    if (is_order && call.dtype() == DType::boolean)
      for (std::string& one : x) one = call.cast(one, DType::boolean, DType::u8);
    return as_number(call, call.node(op, x));
  };
}

Names not_equal(ExportCall& call) {
  return as_number(call, call.node("Not", {call.node("Equal", call.thin_operands())}));
}

ExportRule logical(const char* op) {
  return [op](ExportCall& call) {
    Names x = call.thin_operands();
    for (std::string& one : x) one = call.cast(one, call.dtype(), DType::boolean);
    return as_number(call, call.node(op, x));
  };
}

/// Of floats only; integers never are.
ExportRule test_of_floats(const char* op) {
  return [op](ExportCall& call) {
    const Names x = call.thin_operands();
    if (!is_float(call.dtype())) return call.give_thin(call.graph().scalar(0, DType::u8), {});
    return as_number(call, call.node(op, x));
  };
}

Names cast(ExportCall& call) {
  return call.give(call.cast(call.thin_operands()[0], call.dtype(), call.out_dtype()));
}

Names select(ExportCall& call) {
  Names x = call.thin_operands();
  x[0] = call.cast(x[0], call.dtype(0), DType::boolean);
  return call.give(call.node("Where", x));
}

/// max(x, 0) has a name; relu() is that once a program is simplified.
Names largest(ExportCall& call) {
  const Names x = call.thin_operands();
  if (is_float(call.dtype()))
    for (const std::size_t i : {0U, 1U})
      if (call.is_uniform(i) && call.constant(i) == 0.0)
        return call.give(call.node("Relu", {x[1 - i]}));
  return call.give(call.node("Max", x));
}

/// Integers by 0 give 0.
ExportRule of_integers(const char* op, std::vector<NodeAttribute> attributes) {
  return [op, attributes = std::move(attributes)](ExportCall& call) {
    const Names x = call.thin_operands();
    const DType dtype = call.dtype();
    if (is_float(dtype)) return call.give(call.node(op, x, attributes));
    if (is_narrow(dtype) && call.opset() < 14 && std::string_view{op} == "Div")
      call.refuse("for " + std::string{to_string(dtype)} + " it needs opset 14");
    const std::string zero = call.graph().scalar(0, dtype);
    const std::string by_zero = call.node("Equal", {x[1], zero});
    const std::string safe = call.node("Where", {by_zero, call.graph().scalar(1, dtype), x[1]});
    const std::string made = call.node(op, {x[0], safe}, attributes);
    return call.give(call.node("Where", {by_zero, zero, made}));
  };
}

ExportRule shift(const char* direction) {
  return [direction](ExportCall& call) {
    const DType dtype = call.dtype();
    if (is_signed(dtype)) call.refuse("ONNX shifts unsigned integers only");
    const Names x = call.thin_operands();
    const std::string bits = call.graph().scalar(8.0 * static_cast<double>(size_of(dtype)), dtype);
    const std::string fits = call.node("Less", {x[1], bits});
    const std::string zero = call.graph().scalar(0, dtype);
    const std::string by = call.node("Where", {fits, x[1], zero});
    const std::string made =
        call.node("BitShift", {x[0], by}, {{"direction", std::string{direction}}});
    return call.give(call.node("Where", {fits, made, zero}));
  };
}

// Written out ---------------------------------------------------------------------------------------

Names expm1(ExportCall& call) {
  const std::string power = call.node("Exp", call.thin_operands());
  return call.give(call.node("Sub", {power, call.graph().scalar(1, call.dtype())}));
}

Names log1p(ExportCall& call) {
  const std::string one = call.graph().scalar(1, call.dtype());
  return call.give(call.node("Log", {call.node("Add", {call.thin_operands()[0], one})}));
}

Names erfc(ExportCall& call) {
  const std::string erf = call.node("Erf", call.thin_operands());
  return call.give(call.node("Sub", {call.graph().scalar(1, call.dtype()), erf}));
}

Names rsqrt(ExportCall& call) {
  return call.give(call.node("Reciprocal", {call.node("Sqrt", call.thin_operands())}));
}

Names cbrt(ExportCall& call) {
  const Names x = call.thin_operands();
  const std::string third = call.graph().scalar(1.0 / 3, call.dtype());
  const std::string root = call.node("Pow", {call.node("Abs", x), third});
  return call.give(call.node("Mul", {call.node("Sign", x), root}));
}

/// Halves go away from 0; ONNX's Round takes them to even.
Names round(ExportCall& call) {
  const Names x = call.thin_operands();
  if (!is_float(call.dtype())) return call.give(x[0]);
  const std::string size = call.node("Abs", x);
  const std::string whole = call.node("Floor", {size});
  const std::string rest = call.node("Sub", {size, whole});
  const std::string is_half =
      call.node("GreaterOrEqual", {rest, call.graph().scalar(0.5, call.dtype())});
  const std::string up = call.cast(is_half, DType::boolean, call.dtype());
  return call.give(call.node("Mul", {call.node("Sign", x), call.node("Add", {whole, up})}));
}

}  // namespace

void define(ExportTable& table) {
  for (const auto& [name, op] : std::initializer_list<Pair>{{"abs", "Abs"},
                                                            {"erf", "Erf"},
                                                            {"exp", "Exp"},
                                                            {"log", "Log"},
                                                            {"min", "Min"},
                                                            {"sigmoid", "Sigmoid"},
                                                            {"sign", "Sign"},
                                                            {"sqrt", "Sqrt"},
                                                            {"tanh", "Tanh"}})
    table.add(name, direct(op));
  for (const auto& [name, op] : std::initializer_list<Pair>{{"acos", "Acos"},
                                                            {"acosh", "Acosh"},
                                                            {"asin", "Asin"},
                                                            {"asinh", "Asinh"},
                                                            {"atan", "Atan"},
                                                            {"atanh", "Atanh"},
                                                            {"cos", "Cos"},
                                                            {"cosh", "Cosh"},
                                                            {"sin", "Sin"},
                                                            {"sinh", "Sinh"},
                                                            {"tan", "Tan"}})
    table.add(name, wide_rule(no_bf16, direct(op)));
  for (const auto& [name, op] : std::initializer_list<Pair>{{"bitwise_and", "BitwiseAnd"},
                                                            {"bitwise_not", "BitwiseNot"},
                                                            {"bitwise_or", "BitwiseOr"},
                                                            {"bitwise_xor", "BitwiseXor"}})
    table.add(name, direct(op, 18));
  for (const auto& [name, op] : std::initializer_list<Pair>{
           {"add", "Add"}, {"divide", "Div"}, {"multiply", "Mul"}, {"subtract", "Sub"}})
    table.add(name, arithmetic(op));
  for (const auto& [name, op] :
       std::initializer_list<Pair>{{"equal", "Equal"}, {"greater", "Greater"}, {"less", "Less"}})
    table.add(name, comparison(op));
  for (const auto& [name, op] : std::initializer_list<Pair>{{"greater_equal", "GreaterOrEqual"},
                                                            {"less_equal", "LessOrEqual"}})
    table.add(name, wide_rule(&bf16_since<16>, comparison(op)));
  for (const auto& [name, op] : std::initializer_list<Pair>{{"logical_and", "And"},
                                                            {"logical_not", "Not"},
                                                            {"logical_or", "Or"},
                                                            {"logical_xor", "Xor"}})
    table.add(name, logical(op));
  table.add("not_equal", &not_equal);
  table.add("is_nan", test_of_floats("IsNaN"));
  table.add("is_infinity", wide_rule(&halves_since<20>, test_of_floats("IsInf")));
  table.add("ceil", rounding("Ceil"));
  table.add("floor", rounding("Floor"));
  table.add("round", wide_rule(&bf16_since<16>, &round));
  table.add("cast", &cast);
  table.add("select", wide_rule(&bf16_since<16>, &select));
  table.add("max", &largest);
  table.add("quotient", of_integers("Div", {}));
  table.add("remainder", of_integers("Mod", {{"fmod", std::int64_t{1}}}));
  table.add("left_shift", shift("LEFT"));
  table.add("right_shift", shift("RIGHT"));
  table.add("expm1", &expm1);
  table.add("log1p", &log1p);
  table.add("erfc", &erfc);
  table.add("rsqrt", &rsqrt);
  table.add("negate", &negate);
  table.add("pow", wide_rule(&bf16_since<15>, &pow));
  // A third in a short float is so far from one that powers of large numbers show it.
  table.add("cbrt", wide_rule(&halves_since<22>, &cbrt));
}

}  // namespace stoker::onnx::exports::elementwise
