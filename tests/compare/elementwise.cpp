// Functions of single elements, of every dtype, with broadcasting.
#include "families.hpp"

namespace stoker::compare {
namespace {

struct Unary {
  const char* name;
  Tensor (*function)(const TensorLike&);
  bool floats = true;
};
struct Binary {
  const char* name;
  Tensor (*function)(const TensorLike&, const TensorLike&);
  enum class Takes : std::uint8_t { numbers, floats, integers } takes = Takes::numbers;
};

const std::vector<Unary> unary{{"exp", &exp},
                               {"expm1", &expm1},
                               {"log", &log},
                               {"log1p", &log1p},
                               {"log2", &log2},
                               {"log10", &log10},
                               {"sigmoid", &sigmoid},
                               {"sqrt", &sqrt},
                               {"rsqrt", &rsqrt},
                               {"cbrt", &cbrt},
                               {"sin", &sin},
                               {"cos", &cos},
                               {"tan", &tan},
                               {"asin", &asin},
                               {"acos", &acos},
                               {"atan", &atan},
                               {"sinh", &sinh},
                               {"cosh", &cosh},
                               {"tanh", &tanh},
                               {"asinh", &asinh},
                               {"acosh", &acosh},
                               {"atanh", &atanh},
                               {"erf", &erf},
                               {"erfc", &erfc},
                               {"erf_inv", &erf_inv},
                               {"negate", &negate, false},
                               {"abs", &abs, false},
                               {"sign", &sign, false},
                               {"floor", &floor, false},
                               {"ceil", &ceil, false},
                               {"round", &round, false},
                               {"relu", &relu, false},
                               {"logical_not", &logical_not, false},
                               {"is_nan", &is_nan, false},
                               {"is_infinity", &is_infinity, false}};

using Takes = Binary::Takes;
const std::vector<Binary> binary{{"add", &add},
                                 {"subtract", &subtract},
                                 {"multiply", &multiply},
                                 {"divide", &divide},
                                 {"remainder", &remainder},
                                 {"pow", &pow},
                                 {"max", &max},
                                 {"min", &min},
                                 {"atan2", &atan2, Takes::floats},
                                 {"quotient", &quotient, Takes::integers},
                                 {"bitwise_and", &bitwise_and, Takes::integers},
                                 {"bitwise_or", &bitwise_or, Takes::integers},
                                 {"bitwise_xor", &bitwise_xor, Takes::integers},
                                 {"left_shift", &left_shift, Takes::integers},
                                 {"right_shift", &right_shift, Takes::integers},
                                 {"equal", &equal},
                                 {"not_equal", &not_equal},
                                 {"less", &less},
                                 {"less_equal", &less_equal},
                                 {"greater", &greater},
                                 {"greater_equal", &greater_equal},
                                 {"logical_and", &logical_and},
                                 {"logical_or", &logical_or},
                                 {"logical_xor", &logical_xor}};

Way any_way(Draw& draw) { return draw.chance(0.2) ? Way::traced : Way::together; }

DType fitting(Draw& draw, Takes takes) {
  while (true) {
    const DType dtype = takes == Takes::floats ? draw.floating() : draw.number();
    if (takes != Takes::integers || is_integer(dtype)) return dtype;
  }
}

}  // namespace

void elementwise(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.45) {
    const Unary& one = draw.of(unary);
    const DType dtype = one.floats && draw.chance(0.9) ? draw.floating() : draw.number();
    record.add(
        one.name, {}, {draw.tensor({dtype, draw.shape()}, Range::any)},
        [&](const Tensors& x) { return Tensors{one.function(x[0])}; }, any_way(draw));
    return;
  }
  if (kind < 0.85) {
    const Binary& one = draw.of(binary);
    const DType dtype = fitting(draw, one.takes);
    const Shape shape = draw.shape();
    // Integer powers stay small; shifts beyond the width are cases.
    const bool small =
        is_integer(dtype) && (one.function == &pow || one.name[0] == 'l' || one.name[0] == 'r');
    const Range range = small && one.function != &remainder ? Range::positive : Range::any;
    const Tensor left = draw.tensor({dtype, shape}, Range::any);
    const Tensor right = draw.tensor({dtype, draw.beside(shape)}, range);
    record.add(
        one.name, {}, {left, right},
        [&](const Tensors& x) { return Tensors{one.function(x[0], x[1])}; }, any_way(draw));
    return;
  }
  if (kind < 0.95) {
    const DType from = draw.number(), to = draw.number();
    record.add(
        "cast", {{"dtype", std::string{to_string(to)}}},
        {draw.tensor({from, draw.shape()}, Range::any)},
        [&](const Tensors& x) { return Tensors{as_type(x[0], to)}; }, any_way(draw));
    return;
  }
  if (kind < 0.96) {
    record.add("abs_of_cast", {}, {draw.tensor({DType::s32, draw.shape()}, Range::any)},
               [](const Tensors& x) { return Tensors{abs(as_type(x[0], DType::s64))}; });
    return;
  }
  const DType dtype = draw.number();
  const Shape shape = draw.shape();
  record.add(
      "select", {},
      {draw.tensor({DType::boolean, draw.beside(shape)}, Range::any),
       draw.tensor({dtype, shape}, Range::any),
       draw.tensor({dtype, draw.beside(shape)}, Range::any)},
      [](const Tensors& x) { return Tensors{select(x[0], x[1], x[2])}; }, any_way(draw));
}

}  // namespace stoker::compare
