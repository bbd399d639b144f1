// Functions of single elements as users call them: promotion, broadcasting, edges.
#include <algorithm>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Elementwise = Tensors;

TEST_F(Elementwise, compute_what_their_operators_say) {
  const Tensor a = tensor({1.0, 2.0, 3.0});
  const Tensor b = tensor({4.0, 5.0, 6.0});
  expect_values<float>(a + b, {3}, {5, 7, 9});
  expect_values<float>(a - b, {3}, {-3, -3, -3});
  expect_values<float>(a * b, {3}, {4, 10, 18});
  expect_values<float>(b / a, {3}, {4, 2.5, 2});
  expect_values<float>(2 * a + 1, {3}, {3, 5, 7});
  expect_values<float>(-a, {3}, {-1, -2, -3});
  expect_values<std::uint8_t>(a < 2.5, {3}, {1, 1, 0});
  expect_values<std::uint8_t>(2 == a, {3}, {0, 1, 0});
}

TEST_F(Elementwise, broadcast_from_the_right) {
  const Tensor column = tensor({{1}, {2}});
  const Tensor row = tensor({10, 20, 30});
  expect_values<int>(column + row, {2, 3}, {11, 21, 31, 12, 22, 32});
  expect_values<int>(tensor(5) + row, {3}, {15, 25, 35});
}

TEST_F(Elementwise, say_which_shapes_do_not_fit) {
  const Error error = error_of([] { return ones({3, 4}) + ones({5, 6}); });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(std::string{error.reason()}, "shape mismatch: lhs [3,4], rhs [5,6]");
  EXPECT_EQ(error.op(), "add");
}

TEST_F(Elementwise, refuse_bits_of_floats) {
  EXPECT_EQ(error_of([] { return bitwise_and(ones({2}), 1.0); }).code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error_of([] { return quotient(ones({2}), 2.0); }).code(), ErrorCode::dtype_mismatch);
}

struct Merge {
  DType a, b, result;
};

TEST_F(Elementwise, merge_dtypes_as_Nx_does) {
  using D = DType;
  for (const Merge& one : std::vector<Merge>{{D::s8, D::s64, D::s64},
                                             {D::u8, D::s8, D::s16},
                                             {D::u16, D::s8, D::s32},
                                             {D::u64, D::s8, D::s64},
                                             {D::s64, D::bf16, D::bf16},
                                             {D::u64, D::f32, D::f32},
                                             {D::f16, D::bf16, D::f16},
                                             {D::f32, D::bf16, D::f32},
                                             {D::f32, D::f64, D::f64},
                                             {D::boolean, D::boolean, D::u8},
                                             {D::boolean, D::s8, D::s16}}) {
    EXPECT_EQ((zeros({1}, one.a) + zeros({1}, one.b)).dtype(), one.result)
        << to_string(one.a) << " + " << to_string(one.b);
    EXPECT_EQ((zeros({1}, one.b) + zeros({1}, one.a)).dtype(), one.result);
  }
}

TEST_F(Elementwise, let_numbers_bend_to_the_tensor_beside_them) {
  EXPECT_EQ((zeros({1}, DType::u8) + 255).dtype(), DType::u8);
  EXPECT_EQ((zeros({1}, DType::u8) + 256).dtype(), DType::u16);
  EXPECT_EQ((zeros({1}, DType::u8) + -1).dtype(), DType::s16);
  EXPECT_EQ((zeros({1}, DType::s8) + 128).dtype(), DType::s16);
  EXPECT_EQ((zeros({1}, DType::s64) + 0.5).dtype(), DType::f32);
  EXPECT_EQ((zeros({1}, DType::bf16) + 0.5).dtype(), DType::bf16);
  EXPECT_EQ(tensor({1.0}).dtype(), DType::f32);
  EXPECT_EQ(tensor<double>({1.0}).dtype(), DType::f64);
  EXPECT_EQ(tensor({1}).dtype(), DType::s32);
  EXPECT_EQ(exp(tensor({1})).dtype(), DType::f32);
  EXPECT_EQ((tensor({1}) / 2).dtype(), DType::f32);
}

TEST_F(Elementwise, wrap_and_truncate_integers) {
  expect_values<int>(zeros({1}, DType::u8) - ones({1}, DType::u8), {1}, {255});
  expect_values<int>(quotient(tensor({-7, 7, 5}), tensor({2, -2, 0})), {3}, {-3, -3, 0});
  expect_values<int>(tensor({-7, 7, 5}) % tensor({2, -2, 0}), {3}, {-1, 1, 0});
  expect_values<int>(pow(tensor({2, -1, 3, 0}), tensor({10, -3, -1, 0})), {4}, {1024, -1, 0, 1});
  expect_values<int>(left_shift(tensor({1, 3}), tensor({4, 40})), {2}, {16, 0});
  expect_values<int>(right_shift(tensor({-8, -8}), tensor({1, 60})), {2}, {-4, -1});
  expect_values<int>(population_count(zeros({1}, DType::u8) - 1), {1}, {8});
}

TEST_F(Elementwise, convert_by_truncating_and_saturating) {
  const double inf = INFINITY;
  const Tensor x = tensor({1.9, -1.9, double{NAN}, inf, -inf});
  expect_values<int>(as_type(x, DType::u8), {5}, {1, 0, 0, 255, 0});
  expect_values<int>(as_type(x, DType::s8), {5}, {1, -1, 0, 127, -128});
  expect_values<int>(as_type(tensor({300, -1}), DType::u8), {2}, {44, 255});
}

TEST_F(Elementwise, keep_nan_and_compare_it_unequal) {
  const Tensor x = tensor({double{NAN}, 1.0});
  expect_values<int>(x == x, {2}, {0, 1});
  expect_values<int>(x != x, {2}, {1, 0});
  expect_values<int>(is_nan(max(x, 0)), {2}, {1, 0});
  expect_values<int>(is_nan(min(0, x)), {2}, {1, 0});
  expect_values<int>(is_nan(relu(x)), {2}, {1, 0});
  expect_values<int>(is_nan(clip(x, 0, 1)), {2}, {1, 0});
}

TEST_F(Elementwise, refuse_numbers_that_no_dtype_holds_beside_them) {
  const Error refused = error_of([] { return tensor({1}) + 18446744073709551615ULL; });
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refused.reason(), "18446744073709551615 does not fit s64");
  EXPECT_EQ((zeros({1}, DType::u8) + 18446744073709551615ULL).dtype(), DType::u64);
}

TEST_F(Elementwise, refuse_numbers_that_the_dtype_asked_for_does_not_hold) {
  const auto made = [](const TensorLike& number, DType dtype) {
    return code_of([&] { return full({2}, number, dtype).eval(); });
  };
  constexpr auto refused = ErrorCode::invalid_argument;
  EXPECT_EQ(made(1e30, DType::s32), refused);
  EXPECT_EQ(made(-1e30, DType::u8), refused);
  EXPECT_EQ(made(-1.0, DType::u64), refused);
  EXPECT_EQ(made(double{NAN}, DType::s32), refused);
  EXPECT_EQ(made(9223372036854775808.0, DType::s64), refused);
  EXPECT_EQ(made(9223372036854775808ULL, DType::s64), refused);
  EXPECT_EQ(made(256, DType::u8), refused);
  EXPECT_EQ(made(-1, DType::u32), refused);
  expect_values<int>(full({2}, -128.9, DType::s8), {2}, {-128, -128});
  expect_values<int>(full({1}, -0.5, DType::u8), {1}, {0});
  expect_values<int>(full({1}, 256, DType::boolean), {1}, {1});
  EXPECT_EQ(full({}, 9223372036854775808ULL).item<std::uint64_t>(), 9223372036854775808ULL);
  EXPECT_EQ(full({}, -9223372036854775808.0, DType::s64).item<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
}

TEST_F(Elementwise, limits_that_cross_give_the_upper_one) {
  expect_values<int>(clip(tensor({0, 5}), 3, 1), {2}, {1, 1});
}

TEST_F(Elementwise, choose_and_limit) {
  expect_values<float>(select(tensor({1, 0, 2}), tensor({1.0, 2.0, 3.0}), -1), {3}, {1, -1, 3});
  expect_values<float>(clip(tensor({-2.0, 0.5, 2.0}), 0, 1), {3}, {0, 0.5, 1});
  expect_values<float>(round(tensor({0.5, -0.5, 1.5, -2.5})), {4}, {1, -1, 2, -3});
}

TEST_F(Elementwise, agree_with_the_standard_library) {
  struct Function {
    Tensor (*ours)(const TensorLike&);
    double (*theirs)(double);
    double low, high;
  };
  const std::vector<Function> functions = {
      {&exp, &std::exp, -10, 10},     {&expm1, &std::expm1, -2, 2}, {&log, &std::log, 0.01, 50},
      {&log1p, &std::log1p, -0.9, 9}, {&sin, &std::sin, -9, 9},     {&cos, &std::cos, -9, 9},
      {&tan, &std::tan, -1.5, 1.5},   {&asin, &std::asin, -1, 1},   {&acos, &std::acos, -1, 1},
      {&atan, &std::atan, -9, 9},     {&sinh, &std::sinh, -5, 5},   {&cosh, &std::cosh, -5, 5},
      {&tanh, &std::tanh, -5, 5},     {&asinh, &std::asinh, -9, 9}, {&acosh, &std::acosh, 1, 9},
      {&atanh, &std::atanh, -.9, .9}, {&sqrt, &std::sqrt, 0, 90},   {&cbrt, &std::cbrt, -90, 90},
      {&erf, &std::erf, -3, 3},       {&erfc, &std::erfc, -3, 3},   {&floor, &std::floor, -9, 9},
      {&ceil, &std::ceil, -9, 9},     {&round, &std::round, -9, 9}, {&abs, &std::fabs, -9, 9}};
  std::size_t index = 0;
  for (const Function& one : functions) {
    std::vector<double> x;
    for (int i = 0; i <= 40; ++i) x.push_back(one.low + (one.high - one.low) * i / 40);
    std::vector<double> want(x.size());
    std::ranges::transform(x, want.begin(), one.theirs);
    SCOPED_TRACE("function " + std::to_string(index++));
    expect_near(one.ours(tensor(x)), want, 1e-12);
  }
}

TEST_F(Elementwise, work_without_elements_and_without_axes) {
  EXPECT_TRUE((zeros({0, 3}) + ones({3})).to_vector<float>().empty());
  EXPECT_EQ((tensor(2) * 3).item<int>(), 6);
  EXPECT_EQ((tensor(2) * 3).rank(), 0U);
}

}  // namespace
}  // namespace stoker
