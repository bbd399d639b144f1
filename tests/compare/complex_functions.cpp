// Functions of complex numbers: anywhere, near branch points, and on the axes.
#include <cmath>

#include "families.hpp"

namespace stoker::compare {
namespace {

struct Unary {
  const char* name;
  Tensor (*function)(const TensorLike&);
};
const std::vector<Unary> functions{
    {"exp", &exp},     {"expm1", &expm1},     {"log", &log},     {"log1p", &log1p},
    {"sqrt", &sqrt},   {"sin", &sin},         {"cos", &cos},     {"tan", &tan},
    {"asin", &asin},   {"acos", &acos},       {"atan", &atan},   {"sinh", &sinh},
    {"cosh", &cosh},   {"tanh", &tanh},       {"asinh", &asinh}, {"acosh", &acosh},
    {"atanh", &atanh}, {"sigmoid", &sigmoid}, {"abs", &abs},     {"phase", &phase}};

struct Binary {
  const char* name;
  Tensor (*function)(const TensorLike&, const TensorLike&);
};
const std::vector<Binary> pairs{{"add", &add},
                                {"subtract", &subtract},
                                {"multiply", &multiply},
                                {"divide", &divide},
                                {"pow", &pow}};

std::complex<double> number(Draw& draw, bool bounded) {
  const double kind = draw.real(0, 1);
  const double size = bounded ? draw.real(0, 6) : std::pow(10, draw.real(-9, 9));
  if (kind < 0.2) return {draw.chance(0.5) ? size : -size, 0};
  if (kind < 0.3) return {0, draw.chance(0.5) ? size : -size};
  const double angle = draw.real(-3.14159, 3.14159);
  const std::complex<double> any = std::polar(size, angle);
  if (kind < 0.7) return any;
  const std::complex<double> poles[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  return poles[draw.integer(0, 3)] + std::polar(std::pow(10, draw.real(-6, -1)), angle);
}

Tensor numbers(Draw& draw, DType dtype, bool bounded) {
  std::vector<std::complex<double>> made;
  for (std::int64_t i = 0; i < 64; ++i) made.push_back(number(draw, bounded));
  return as_type(tensor(made), dtype).eval();
}

}  // namespace

void complex_functions(Draw& draw, Record& record) {
  const DType dtype = draw.chance(0.5) ? DType::c64 : DType::c128;
  const Way way = draw.chance(0.2) ? Way::traced : Way::together;
  if (draw.chance(0.2)) {
    const Binary& one = draw.of(pairs);
    record.add(
        std::string{"complex_"} + one.name, {},
        {numbers(draw, dtype, true), numbers(draw, dtype, true)},
        [&](const Tensors& x) { return Tensors{one.function(x[0], x[1])}; }, way);
    return;
  }
  const Unary& one = draw.of(functions);
  const std::string name = one.name;
  const bool grows = name == "exp" || name == "expm1" || name == "sigmoid" || name.ends_with("h") ||
                     name.size() == 3;
  const bool inverse = name.starts_with('a') || name == "log";
  record.add(
      "complex_" + name, {}, {numbers(draw, dtype, grows && !inverse)},
      [&](const Tensors& x) { return Tensors{one.function(x[0])}; }, way);
}

}  // namespace stoker::compare
