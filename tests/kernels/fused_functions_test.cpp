// Each function that a fused program may use, on the CPU, against its double-precision reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fused_programs.hpp"
#include "stoker/kernels/case_grid.hpp"

namespace stoker {
namespace {

using namespace fused_test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Values in which the function may behave differently, and many between.
std::vector<double> operand_values(const Use& use, std::size_t operand, std::mt19937& random) {
  const DType dtype = use.operands[operand];
  const std::string_view name = use.function->name;
  std::vector<double> values;
  const auto draw = [&](double low, double high, int count) {
    std::uniform_real_distribution<double> any{low, high};
    for (int i = 0; i < count; ++i)
      values.push_back(is_float(dtype) ? any(random) : std::round(any(random)));
  };
  if (is_float(dtype)) {
    values = {0,   -0.0, 1,  -1,    0.5,    -0.5,     1.5,  -1.5, 2.5,      0.49999997, inf, -inf,
              nan, 2,    -2, 1e-20, -1e-30, 0x1p-149, 3e38, 1e4,  0.999999, -0.999999,  3,   -3};
    draw(-1, 1, 800);
    draw(-4, 4, 800);
    draw(-90, 90, 400);
    draw(-1e5, 1e5, 400);
  } else if (name == "pow") {
    draw(operand == 0 ? -9 : -3, 9, 2000);
  } else {
    values = {0, 1, -1, 2, 7, 8, 31, 63, 64, 127, -128, 255};
    draw(-20, 40, 1000);
    draw(-30000, 30000, 600);
  }
  std::shuffle(values.begin(), values.end(), random);
  // Unsigned 64-bit values near 2^64 are no doubles.
  if (!is_signed(dtype))
    for (double& value : values) value = std::abs(value);
  // As they are after the rounding to their dtype.
  return doubles(dtype, stored(dtype, values));
}

double wanted_value(const Use& use, const double* x) {
  const DType operand = use.operands.back();
  const double exact = use.function->reference(x, operand);
  if (use.function->result == ScalarResult::free) {
    if (use.result == DType::boolean) return exact != 0;
    if (is_float(use.result)) return exact;
    if (is_float(operand)) {
      const double count = std::ldexp(1.0, static_cast<int>(8 * size_of(use.result)));
      const double least = is_signed(use.result) ? -count / 2 : 0;
      if (std::isnan(exact)) return 0;
      return std::clamp(std::trunc(exact), least, least + count - 1);
    }
  }
  if (use.result == DType::u64 && exact < 0) return exact + 0x1p64;
  return cases::wrapped(exact, use.result);
}

TEST(Fused, every_function_of_every_dtype_is_within_its_bound) {
  std::mt19937 random{7};
  for (const Use& use : all_uses()) {
    std::vector<std::vector<double>> values;
    std::size_t n = ~std::size_t{0};
    for (std::size_t k = 0; k < use.operands.size(); ++k) {
      values.push_back(operand_values(use, k, random));
      n = std::min(n, values.back().size());
    }
    std::vector<Bytes> inputs;
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k].resize(n);
      inputs.push_back(stored(use.operands[k], values[k]));
    }
    const Shape shape{static_cast<std::int64_t>(n)};
    const auto got =
        doubles(use.result, run(single(*use.function, use.operands, use.result, shape), inputs)[0]);
    const double half_ulp = cases::compute_rounding(use.result);
    const double steps =
        use.result == DType::f64 ? (use.function->ulps > 0 ? 16 : 1) : 1 + 2 * use.function->ulps;
    // What is rounded to 16 bits may come out on the other side of a midpoint.
    const double bound =
        steps * half_ulp +
        (size_of(use.result) == 2 && is_float(use.result) ? 2 * cases::rounding(use.result) : 0);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n && wrong < 3; ++i) {
      double x[3] = {};
      for (std::size_t k = 0; k < values.size(); ++k) x[k] = values[k][i];
      double want = wanted_value(use, x);
      if (is_float(use.result)) want = doubles(use.result, stored(use.result, {want}))[0];
      if (near(got[i], want, bound, cases::subnormal(use.result) * 1e-3, use.result)) continue;
      ++wrong;
      ADD_FAILURE() << use.name() << " at " << x[0] << ", " << x[1] << ", " << x[2] << ": got "
                    << got[i] << ", want " << want << ", relative error "
                    << std::abs(got[i] / want - 1) << " of " << bound;
    }
  }
}

TEST(Fused, signs_of_zero_and_edges_of_integers) {
  const auto one = [](std::string_view name, DType dtype, std::vector<double> x) {
    std::vector<DType> operands(x.size(), dtype);
    std::vector<Bytes> inputs;
    for (const double each : x) inputs.push_back(stored(dtype, {each}));
    const auto* each = function(name);
    const DType result = scalar_result(*each, operands, dtype).value();
    return doubles(result, run(single(*each, operands, result, Shape{1}), inputs)[0])[0];
  };
  for (const char* name : {"sign", "sin", "tan", "tanh", "sinh", "asin", "atan", "asinh", "atanh",
                           "expm1", "log1p", "erf", "cbrt", "round", "floor", "ceil"}) {
    EXPECT_TRUE(std::signbit(one(name, DType::f32, {-0.0}))) << name;
    EXPECT_FALSE(std::signbit(one(name, DType::f32, {0.0}))) << name;
  }
  EXPECT_EQ(one("quotient", DType::s32, {-2147483648.0, -1}), -2147483648.0);
  EXPECT_EQ(one("quotient", DType::s64, {-0x1p63, -1}), -0x1p63);
  EXPECT_EQ(one("quotient", DType::u16, {7, 0}), 0);
  EXPECT_EQ(one("remainder", DType::s32, {-7, 2}), -1);
  EXPECT_EQ(one("remainder", DType::s64, {-0x1p63, -1}), 0);
  EXPECT_EQ(one("remainder", DType::s8, {5, 0}), 0);
  EXPECT_EQ(one("abs", DType::s8, {-128}), -128);
  EXPECT_EQ(one("pow", DType::s32, {-1, -3}), -1);
  EXPECT_EQ(one("pow", DType::s32, {2, -3}), 0);
  EXPECT_EQ(one("pow", DType::u8, {3, 6}), 729 % 256);
  EXPECT_EQ(one("left_shift", DType::s32, {1, 32}), 0);
  EXPECT_EQ(one("right_shift", DType::s8, {-5, 100}), -1);
  EXPECT_EQ(one("right_shift", DType::u8, {200, -1}), 0);
  EXPECT_EQ(one("count_leading_zeros", DType::s16, {1}), 15);
  EXPECT_EQ(one("population_count", DType::s64, {-1}), 64);
  EXPECT_TRUE(std::isnan(one("max", DType::f32, {nan, 1})));
  EXPECT_TRUE(std::isnan(one("min", DType::bf16, {1, nan})));
}

}  // namespace
}  // namespace stoker
