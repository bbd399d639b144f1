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

TEST_F(ComplexPrecisionOfDoubles, roots_hold_at_the_ends_of_the_range) {
  for (const C& z : {C{5e-324, 0}, C{-5e-324, 0}, C{1.7e308, 0}, C{-1.2e308, 1e308}}) {
    const C got = sqrt(tensor(Numbers{z})).to_vector<C>()[0];
    const std::complex<long double> wide = std::sqrt(Wide{z.real(), z.imag()});
    const C wanted{static_cast<double>(wide.real()), static_cast<double>(wide.imag())};
    EXPECT_LE(std::abs(got - wanted), 1e-14 * std::abs(wanted)) << z << got;
  }
}

TEST_F(ComplexPrecisionOfDoubles, slopes_hold_on_the_axes_and_beside_branch_points) {
  struct Slope {
    const char* name;
    Tensor (*function)(const TensorLike&);
    C (*slope)(const C&);
  };
  const Slope slopes[] = {
      {"sqrt", &sqrt, [](const C& z) { return 0.5 / std::sqrt(z); }},
      {"rsqrt", &rsqrt, [](const C& z) { return -0.5 / (z * std::sqrt(z)); }},
      {"log", &log, [](const C& z) { return 1.0 / z; }},
      {"asin", &asin, [](const C& z) { return 1.0 / (std::sqrt(1.0 - z) * std::sqrt(1.0 + z)); }},
      {"acos", &acos, [](const C& z) { return -1.0 / (std::sqrt(1.0 - z) * std::sqrt(1.0 + z)); }},
      {"atan", &atan, [](const C& z) { return 1.0 / (1.0 + z * z); }},
      {"asinh", &asinh, [](const C& z) { return 1.0 / std::sqrt(1.0 + z * z); }},
      {"acosh", &acosh, [](const C& z) { return 1.0 / (std::sqrt(z - 1.0) * std::sqrt(z + 1.0)); }},
      {"atanh", &atanh, [](const C& z) { return 1.0 / (1.0 - z * z); }}};
  for (const C& z : {C{0.5, 0}, C{0.25, -0.0}, C{0, 0.5}, C{0, -0.25}, C{1, 1e-4}, C{1, -1e-10},
                     C{1e-4, 1}, C{3, 0.5}, C{-0.5, 0.25}})
    for (const Slope& one : slopes) {
      const C slope = one.slope(z);
      const Tensor at = tensor(Numbers{z});
      // dL/dre + i dL/dim where L is the real part, and where it is the imaginary one.
      const C of_re =
          grad([&](const Tensor& x) { return sum(real(one.function(x))); })(at).to_vector<C>()[0];
      const C of_im =
          grad([&](const Tensor& x) { return sum(imag(one.function(x))); })(at).to_vector<C>()[0];
      EXPECT_LE(std::abs(of_re - std::conj(slope)), 1e-6 * std::abs(slope)) << one.name << z;
      EXPECT_LE(std::abs(of_im - C{slope.imag(), slope.real()}), 1e-6 * std::abs(slope))
          << one.name << z;
    }
}

TEST_F(ComplexPrecisionOfDoubles, quotients_hold_at_the_ends_of_the_range) {
  const double large = 1.5e308;
  const Numbers a{{large, 0}, {large, large}, {1, 0}, {5e-324, 0}};
  const Numbers b{{large, large}, {large, -large}, {5e-324, 0}, {0.5, 0}};
  const auto got = (tensor(a) / tensor(b)).to_vector<C>();
  EXPECT_LE(std::abs(got[0] - C{0.5, -0.5}), 1e-14) << got[0];
  EXPECT_LE(std::abs(got[1] - C{0, 1}), 1e-14) << got[1];
  EXPECT_EQ(got[2], C(HUGE_VAL, 0));
  EXPECT_EQ(got[3], C(1e-323, 0));
}

TEST_F(ComplexPrecisionOfDoubles, curvatures_hold_on_the_axes) {
  struct Curvature {
    const char* name;
    Tensor (*function)(const TensorLike&);
    C (*curvature)(const C&);
  };
  const Curvature curvatures[] = {
      {"sqrt", &sqrt, [](const C& z) { return -0.25 / (z * std::sqrt(z)); }},
      {"log", &log, [](const C& z) { return -1.0 / (z * z); }},
      {"log1p", &log1p, [](const C& z) { return -1.0 / ((1.0 + z) * (1.0 + z)); }},
      {"atan", &atan, [](const C& z) { return -2.0 * z / std::pow(1.0 + z * z, 2); }},
      {"atanh", &atanh, [](const C& z) { return 2.0 * z / std::pow(1.0 - z * z, 2); }}};
  for (const C& z : {C{1.25, 0}, C{0.75, -0.0}, C{0, 1.25}, C{0, -0.75}, C{0.25, 0}, C{0.75, 0.25}})
    for (const Curvature& one : curvatures) {
      const C wanted = one.curvature(z);
      // How dL/dim changes with re and with im, where L is the real part.
      const auto loss = [&](const Tensor& x) { return sum(real(one.function(x))); };
      const auto slope = [&](const Tensor& x) { return sum(imag(grad(loss)(x))); };
      const C got = grad(slope)(tensor(Numbers{z})).to_vector<C>()[0];
      EXPECT_LE(std::abs(got + C{wanted.imag(), wanted.real()}), 1e-6 * std::abs(wanted))
          << one.name << z << got;
    }
}

TEST_P(ComplexPrecision, atanh_holds_far_away_and_beside_its_poles) {
  const Numbers at{{1e38, 0}, {-2e38, 1}, {0, 2e38}, {1, 1e-19}, {-1, -1e-25}, {1e-20, 3e-30}};
  const auto got = as_type(atanh(as_type(tensor(at), DType::c64)), DType::c128).to_vector<C>();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Wide want = std::atanh(Wide{at[i].real(), at[i].imag()});
    EXPECT_NEAR(got[i].real(), static_cast<double>(want.real()),
                1e-6 * static_cast<double>(std::abs(want)))
        << at[i];
    EXPECT_NEAR(got[i].imag(), static_cast<double>(want.imag()),
                1e-6 * static_cast<double>(std::abs(want)))
        << at[i];
  }
}

TEST_P(ComplexPrecision, sizes_roots_and_quotients_hold_for_the_largest_numbers) {
  const Numbers at{{2e38, 0}, {-2.4e38, 1}, {0, 3e38}, {2e38, -2e38}, {-2e38, -2e38}};
  const Tensor z = as_type(tensor(at), DType::c64);
  const auto sizes = as_type(abs(z), DType::f64).to_vector<double>();
  const auto roots = as_type(sqrt(z), DType::c128).to_vector<C>();
  const auto quotients = as_type(z / reverse(z), DType::c128).to_vector<C>();
  for (std::size_t i = 0; i < at.size(); ++i) {
    EXPECT_NEAR(sizes[i] / std::abs(at[i]), 1, 1e-6) << at[i];
    EXPECT_LE(std::abs(roots[i] / std::sqrt(at[i]) - 1.0), 1e-6) << at[i] << roots[i];
    const C quotient = at[i] / at[at.size() - 1 - i];
    EXPECT_LE(std::abs(quotients[i] - quotient), 1e-6 * std::abs(quotient)) << at[i];
  }
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
