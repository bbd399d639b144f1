// Complex functions near their branch points, on their cuts, and far from 0, against std::complex<long
// double>: each result within some roundings of its size.
#include "complex_numbers.hpp"

namespace stoker {
namespace {

using Wide = std::complex<long double>;
using ComplexPrecision = TensorsOnDevices;

struct Case {
  const char* name;
  Tensor (*function)(const TensorLike&);
  Wide (*wanted)(const Wide&);
};

Wide log1p_of(const Wide& z) {
  const long double re = z.real(), im = z.imag();
  if (std::abs(z) > 0.5L) return std::log(1.0L + z);
  return {0.5L * std::log1p(re * (2 + re) + im * im), std::atan2(im, 1 + re)};
}

const std::vector<Case> cases{
    {"asin", &asin, [](const Wide& z) { return std::asin(z); }},
    {"acos", &acos, [](const Wide& z) { return std::acos(z); }},
    {"atan", &atan, [](const Wide& z) { return std::atan(z); }},
    {"asinh", &asinh, [](const Wide& z) { return std::asinh(z); }},
    {"acosh", &acosh, [](const Wide& z) { return std::acosh(z); }},
    {"atanh", &atanh, [](const Wide& z) { return std::atanh(z); }},
    {"log", &log, [](const Wide& z) { return std::log(z); }},
    {"log1p", &log1p, &log1p_of},
    {"sqrt", &sqrt, [](const Wide& z) { return std::sqrt(z); }},
    {"sigmoid", &sigmoid, [](const Wide& z) { return 1.0L / (1.0L + std::exp(-z)); }}};

/// Sizes from small to large at angles around the axes, exact and nearly so; and near ±1 and ±i.
Numbers points(double smallest, double largest) {
  Numbers made;
  for (double size = smallest; size <= largest; size *= 30)
    for (const C& direction : {C{1, 0}, C{-1, 0}, C{0, 1}, C{0, -1}, C{1, 1e-3}, C{-1, -1e-3},
                               C{0.6, 0.8}, C{-0.8, 0.6}, C{1e-3, -1}})
      made.push_back(direction * size);
  for (const double from : {1e-6, 1e-3, 0.1})
    for (const C& pole : {C{1, 0}, C{-1, 0}, C{0, 1}, C{0, -1}})
      for (const C& direction : {C{1, 0}, C{-1, 0}, C{0, 1}, C{0, -1}, C{1, 1}})
        made.push_back(pole + direction * from);
  return made;
}

void expect_size(DType dtype, double smallest, double largest, double bound) {
  const Numbers at = points(smallest, largest);
  const Tensor stored = as_type(tensor(at), dtype);
  const auto given = as_type(stored, DType::c128).to_vector<C>();
  for (const Case& one : cases) {
    const auto got = as_type(one.function(stored), DType::c128).to_vector<C>();
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Wide want = one.wanted(Wide{given[i].real(), given[i].imag()});
      // A pole, and where an exponential magnifies the rounding of its operand.
      const bool is_pole = !(std::abs(want) < 1e30L);
      if (is_pole || (one.name == std::string_view{"sigmoid"} && std::abs(given[i]) > 10)) continue;
      const Wide difference = Wide{got[i].real(), got[i].imag()} - want;
      EXPECT_LE(static_cast<double>(std::abs(difference)),
                bound * static_cast<double>(std::abs(want)))
          << one.name << " of " << given[i] << " is " << got[i];
    }
  }
}

TEST_P(ComplexPrecision, functions_are_as_exact_as_their_operands) {
  expect_size(DType::c64, 1e-12, 1e15, 4e-6);
}

using ComplexPrecisionOfDoubles = Tensors;
TEST_F(ComplexPrecisionOfDoubles, functions_are_as_exact_as_their_operands) {
  expect_size(DType::c128, 1e-40, 1e100, 1e-14);
}

TEST_P(ComplexPrecision, inverse_functions_keep_both_parts_near_zero) {
  for (const Case& one : cases) {
    const std::string_view name = one.name;
    if (!name.starts_with('a') || name.starts_with("aco")) continue;  // those that are 0 there
    const auto got = one.function(tensor(Numbers{{1e-9, 1e-5}, {1e-5, -1e-9}}));
    const auto values = as_type(as_type(got, DType::c64), DType::c128).to_vector<C>();
    EXPECT_NEAR(values[0].real() / 1e-9, 1, 1e-5) << one.name;
    EXPECT_NEAR(values[1].imag() / -1e-9, 1, 1e-5) << one.name;
  }
}

TEST_P(ComplexPrecision, gradients_hold_on_the_axes) {
  const Numbers at{{2.5, 0}, {-3, 0.5}, {0, 2.5}, {0, -0.5}, {0.25, 0}, {40, 0}};
  for (const Case& one : cases) {
    const auto loss = [&](const Tensor& z) {
      return sum(imag(one.function(z)) + real(one.function(z)));
    };
    for (const C& slope :
         as_type(grad(loss)(as_type(tensor(at), DType::c64)), DType::c128).to_vector<C>())
      EXPECT_TRUE(std::isfinite(slope.real()) && std::isfinite(slope.imag())) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ComplexPrecision, every_device(), device_name);

}  // namespace
}  // namespace stoker
