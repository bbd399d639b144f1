// What the language's operators mean between tensors and numbers.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Operators = TensorsOnDevices;

TEST_P(Operators, take_tensors_and_numbers_on_either_side) {
  const Tensor a = tensor({7, -7, 9});
  const Tensor b = tensor({2, 2, 3});
  expect_values<int>(a + b, {3}, {9, -5, 12});
  expect_values<int>(a - b, {3}, {5, -9, 6});
  expect_values<int>(a * b, {3}, {14, -14, 27});
  expect_values<float>(a / b, {3}, {3.5, -3.5, 3});
  expect_values<int>(a % b, {3}, {1, -1, 0});
  expect_values<int>(1 + a, {3}, {8, -6, 10});
  expect_values<int>(a - 1, {3}, {6, -8, 8});
  expect_values<int>(1 - a, {3}, {-6, 8, -8});
  expect_values<int>(3 * a, {3}, {21, -21, 27});
  expect_values<float>(1 / b, {3}, {0.5, 0.5, 1.0F / 3});
  expect_values<int>(10 % b, {3}, {0, 0, 1});
  expect_values<int>(-a, {3}, {-7, 7, -9});
  expect_values<int>(pow(b, 3), {3}, {8, 8, 27});
  expect_values<int>(pow(2, b), {3}, {4, 4, 8});
  expect_values<int>(max(a, b), {3}, {7, 2, 9});
  expect_values<int>(min(a, 2), {3}, {2, -7, 2});
  expect_values<int>(quotient(a, b), {3}, {3, -3, 3});
}

TEST_P(Operators, compare_to_zero_or_one) {
  const Tensor a = tensor({1, 2, 3});
  const Tensor b = tensor({3, 2, 1});
  EXPECT_EQ((a == b).dtype(), DType::u8);
  expect_values<int>(a == b, {3}, {0, 1, 0});
  expect_values<int>(a != b, {3}, {1, 0, 1});
  expect_values<int>(a < b, {3}, {1, 0, 0});
  expect_values<int>(a <= b, {3}, {1, 1, 0});
  expect_values<int>(a > b, {3}, {0, 0, 1});
  expect_values<int>(a >= b, {3}, {0, 1, 1});
  expect_values<int>(2 != a, {3}, {1, 0, 1});
  expect_values<int>(2 < a, {3}, {0, 0, 1});
  expect_values<int>(2 <= a, {3}, {0, 1, 1});
  expect_values<int>(2 > a, {3}, {1, 0, 0});
  expect_values<int>(2 >= a, {3}, {1, 1, 0});
}

TEST_P(Operators, logic_takes_zero_for_false_and_all_else_for_true) {
  const Tensor a = tensor({0.0, 0.5, -2.0, 0.0, -0.0});
  const Tensor b = tensor({0, 0, 7, -1, 1});
  expect_values<int>(logical_and(a, b), {5}, {0, 0, 1, 0, 0});
  expect_values<int>(logical_or(a, b), {5}, {0, 1, 1, 1, 1});
  expect_values<int>(logical_xor(a, b), {5}, {0, 1, 0, 1, 1});
  expect_values<int>(logical_not(a), {5}, {1, 0, 0, 1, 1});
  EXPECT_EQ(logical_and(a, b).dtype(), DType::u8);
}

TEST_P(Operators, bits_are_joined_and_moved) {
  const Tensor a = tensor({12, -1, 5});
  const Tensor b = tensor({10, 255, 0});
  expect_values<int>(a & b, {3}, {8, 255, 0});
  expect_values<int>(a | b, {3}, {14, -1, 5});
  expect_values<int>(a ^ b, {3}, {6, -256, 5});
  expect_values<int>(6 & a, {3}, {4, 6, 4});
  expect_values<int>(1 | a, {3}, {13, -1, 5});
  expect_values<int>(a ^ 1, {3}, {13, -2, 4});
  expect_values<int>(~a, {3}, {-13, 0, -6});
  expect_values<int>(a << 2, {3}, {48, -4, 20});
  expect_values<int>(a >> tensor({2, 3, 1}), {3}, {3, -1, 2});
  expect_values<int>(as_type(a, DType::u8) >> 1, {3}, {6, 127, 2});
  EXPECT_EQ(code_of([] { return ones({2}) & 1; }), ErrorCode::dtype_mismatch);
}

// Compilers of shaders like to think that there is neither -0 nor infinity nor NaN.
TEST_P(Operators, literal_zeros_and_infinities_are_what_ieee_says) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expect = [](const Tensor& made, const std::vector<double>& wanted) {
    const std::vector<double> got = as_type(made, DType::f64).to_vector<double>();
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(std::isnan(got[i]), std::isnan(wanted[i])) << i;
      if (std::isnan(wanted[i])) continue;
      EXPECT_EQ(got[i], wanted[i]) << i;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(wanted[i])) << i;
    }
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    SCOPED_TRACE(to_string(dtype));
    const Tensor a = as_type(tensor({1.0, 0.0, -1.0}), dtype).eval();
    expect(a / 0.0, {infinity, nan, -infinity});
    expect(0.0 / a, {0, nan, -0.0});
    expect((a + nan) * 0.0, {nan, nan, nan});
    expect((a * infinity) * 0.0, {nan, nan, nan});
    expect(1.0 / (a * 0.0), {infinity, infinity, -infinity});
    expect(as_type(tensor({-0.0}), dtype).eval() + 0.0, {0});
    expect(1.0 / (0.0 - as_type(tensor({0.0}), dtype).eval()), {infinity});
    expect(sum(a / 0.0, {Axes{0}, true}), {nan});
  }
}

TEST_P(Operators, ranges_count_by_steps) {
  const Tensor x = iota({10});
  expect_values<int>(x[Range(1, 8, 3)], {3}, {1, 4, 7});
  expect_values<int>(x[Range(-3)], {3}, {7, 8, 9});
}

INSTANTIATE_TEST_SUITE_P(Devices, Operators, every_device(), device_name);

}  // namespace
}  // namespace stoker
