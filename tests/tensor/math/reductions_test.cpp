// Many elements into few, and products of matrices.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Reductions = Tensors;

TEST_F(Reductions, go_over_the_axes_they_are_told) {
  const Tensor x = iota({2, 3});
  EXPECT_EQ(sum(x).item<int>(), 15);
  expect_values<int>(sum(x, {Axes{0}}), {3}, {3, 5, 7});
  expect_values<int>(sum(x, {Axes{-1}, true}), {2, 1}, {3, 12});
  expect_values<int>(sum(x, {Axes{}}), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_values<float>(mean(x, {Axes{0}}), {3}, {1.5, 2.5, 3.5});
  expect_values<int>(reduce_max(x, {Axes{1}}), {2}, {2, 5});
  expect_values<int>(reduce_min(x, {Axes{1}}), {2}, {0, 3});
  expect_values<int>(product(x + 1, {Axes{1}}), {2}, {6, 120});
  expect_near(variance(x, {Axes{1}}), {2.0 / 3, 2.0 / 3});
  expect_near(standard_deviation(x, {}, 1), {std::sqrt(3.5)});
}

TEST_F(Reductions, widen_integers) {
  EXPECT_EQ(sum(zeros({2}, DType::u8)).dtype(), DType::u32);
  EXPECT_EQ(sum(zeros({2}, DType::s8)).dtype(), DType::s32);
  EXPECT_EQ(sum(zeros({2}, DType::u64)).dtype(), DType::s64);
  EXPECT_EQ(product(zeros({2}, DType::s64)).dtype(), DType::s64);
  EXPECT_EQ(sum(full({300}, 1, DType::u8)).item<int>(), 300);
  EXPECT_EQ(mean(zeros({2}, DType::s64)).dtype(), DType::f32);
}

TEST_F(Reductions, find_places) {
  const Tensor x = tensor({{3, 1, 3}, {0, 0, 2}});
  EXPECT_EQ(argmax(x).item<int>(), 0);
  expect_values<int>(argmax(x, {.axis = 1}), {2}, {0, 2});
  expect_values<int>(argmax(x, {.axis = 1, .ties = TieBreak::high}), {2}, {2, 2});
  expect_values<int>(argmin(x, {.axis = 1, .keepdims = true}), {2, 1}, {1, 0});
  EXPECT_EQ(argmax(tensor({1.0, double{NAN}, 9.0})).item<int>(), 1);
}

TEST_F(Reductions, answer_questions) {
  const Tensor x = tensor({{1, 0}, {2, 3}});
  expect_values<int>(all(x, {Axes{1}}), {2}, {0, 1});
  expect_values<int>(any(x - 1, {Axes{0}}), {2}, {1, 1});
  EXPECT_EQ(all_close(tensor({1.0, 2.0}), tensor({1.0, 2.000001})).item<int>(), 1);
  EXPECT_EQ(all_close(tensor({1.0}), tensor({1.1})).item<int>(), 0);
  EXPECT_EQ(all_close(tensor({INFINITY}), tensor({INFINITY})).item<int>(), 1);
  EXPECT_EQ(all_close(tensor({NAN}), tensor({NAN})).item<int>(), 0);
  EXPECT_EQ(all_close(tensor({NAN}), tensor({NAN}), {.equal_nan = true}).item<int>(), 1);
}

TEST_F(Reductions, do_not_overflow_in_logarithms) {
  EXPECT_NEAR(logsumexp(tensor({1000.0, 1000.0})).item<double>(), 1000 + std::log(2.0), 1e-3);
  EXPECT_EQ(logsumexp(tensor({-INFINITY, -INFINITY})).item<double>(), -INFINITY);
  expect_near(softmax(tensor({1000.0, 1000.0})), {0.5, 0.5});
  expect_near(log_softmax(tensor({0.0, 0.0})), {-std::log(2.0), -std::log(2.0)});
}

TEST_F(Reductions, normalize_rows) {
  const Tensor x = tensor({{1.0, 2.0, 3.0}});
  const double d = std::sqrt(2.0 / 3 + 1e-5);
  expect_near(layer_norm(x), {-1 / d, 0, 1 / d}, 1e-5);
  expect_near(layer_norm(x, {}, tensor({1.0, 1.0, 1.0})), {1 - 1 / d, 1, 1 + 1 / d}, 1e-5);
}

TEST_F(Reductions, sums_are_linear) {
  const Tensor a = sin(iota({7, 13}, DType::f64));
  const Tensor b = cos(iota({7, 13}, DType::f64));
  expect_near(sum(2 * a + 3 * b, {Axes{0}}),
              (2 * sum(a, {Axes{0}}) + 3 * sum(b, {Axes{0}})).to_vector<double>(), 1e-13);
}

TEST_F(Reductions, of_nothing_may_read_single_elements) {
  const Tensor one = exp(tensor(2.0F)).eval();
  const Tensor none = zeros({0, 3});
  EXPECT_EQ(sum(none * one).item<float>(), 0);
  expect_values<float>(sum(none * one, {Axes{0}}), {3}, {0, 0, 0});
  EXPECT_EQ(sum(none / one, {Axes{1}}).shape(), Shape{0});
  EXPECT_EQ(product(none * one).item<float>(), 1);
  EXPECT_TRUE(all(none < one).item<bool>());
  EXPECT_TRUE(std::isnan(mean(none * one).item<float>()));
  EXPECT_EQ(sum(transpose(none) * one).item<float>(), 0);
}

TEST_F(Reductions, square_16_bit_floats_as_32) {
  const Tensor far = tensor({300.0, -300.0});
  for (const DType dtype : {DType::f16, DType::bf16}) {
    EXPECT_EQ(standard_deviation(as_type(far, dtype)).dtype(), dtype);
    EXPECT_EQ(standard_deviation(as_type(far, dtype)).item<float>(), 300);
    EXPECT_EQ(linalg::norm(as_type(tensor({300.0, 400.0}), dtype)).dtype(), dtype);
    EXPECT_EQ(linalg::norm(as_type(tensor({300.0, 400.0}), dtype)).item<float>(), 500);
  }
}

TEST_F(Reductions, of_nothing) {
  EXPECT_EQ(sum(zeros({0})).item<float>(), 0);
  EXPECT_EQ(product(zeros({0})).item<float>(), 1);
  EXPECT_EQ(error_of([] { return reduce_max(zeros({0})); }).code(), ErrorCode::shape_mismatch);
  expect_values<float>(logsumexp(zeros({0, 2}), {Axes{0}}), {2}, {-INFINITY, -INFINITY});
  EXPECT_EQ(logsumexp(zeros({0}), ones({0}), {}).item<float>(), -INFINITY);
  EXPECT_EQ(argmax(zeros({0, 3}), {.axis = 1}).shape(), Shape{0});
  EXPECT_EQ(error_of([] {
              return argmax(zeros({0, 3}));
            }).reason(),
            "there are no elements to choose from: input f32[0,3]");
  EXPECT_EQ(error_of([] { return sum(zeros({2}), {Axes{1}}); }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] { return sum(zeros({}), {Axes{0}}); }).reason(),
            "axis 0 is out of range for a tensor of rank 0");
  EXPECT_EQ(error_of([] {
              return sum(zeros({2}), {Axes{0, 0}});
            }).code(),
            ErrorCode::invalid_parameter);
}

TEST_F(Reductions, multiply_matrices) {
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}});
  expect_values<float>(matmul(a, a), {2, 2}, {7, 10, 15, 22});
  expect_values<float>(matmul(a, tensor({1.0, 1.0})), {2}, {3, 7});
  expect_values<float>(matmul(tensor({1.0, 1.0}), a), {2}, {4, 6});
  EXPECT_EQ(matmul(tensor({1.0, 2.0}), tensor({3.0, 4.0})).item<float>(), 11);
  EXPECT_EQ(matmul(ones({5, 1, 2, 3}), ones({4, 3, 6})).shape(), (Shape{5, 4, 2, 6}));
  expect_values<int>(matmul(as_type(a, DType::u8), as_type(a, DType::u8)), {2, 2}, {7, 10, 15, 22});
  expect_values<float>(matmul(transpose(a), a), {2, 2}, {10, 14, 14, 20});
}

TEST_F(Reductions, contract_any_axes) {
  expect_values<int>(dot(tensor({1, 2}), tensor({3, 4})), {}, {11});
  expect_values<int>(dot(tensor(2), tensor({3, 4})), {2}, {6, 8});
  EXPECT_EQ(dot(ones({2, 3, 4}), ones({5, 4, 6})).shape(), (Shape{2, 3, 5, 6}));
  const Tensor a = iota({2, 3, 4});
  const Tensor b = iota({4, 3, 5});
  const Tensor both = dot(a, {.contract = {1, 2}}, b, {.contract = {1, 0}});
  EXPECT_EQ(both.shape(), (Shape{2, 5}));
  int want = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) want += (i * 4 + j) * ((j * 3 + i) * 5);
  EXPECT_EQ(both.to_vector<int>()[0], want);
  EXPECT_EQ(dot(ones({7, 2, 3}), {.contract = {2}, .batch = {0}}, ones({7, 3, 5}),
                {.contract = {1}, .batch = {0}})
                .shape(),
            (Shape{7, 2, 5}));
  expect_values<int>(outer(tensor({1, 2}), tensor({3, 4})), {2, 2}, {3, 4, 6, 8});
}

TEST_F(Reductions, say_which_matrices_do_not_fit) {
  const Error error = error_of([] { return matmul(ones({3, 4}), ones({5, 6})); });
  EXPECT_EQ(std::string{error.what()}.substr(0, 47),
            "matmul: shape mismatch: lhs [3,4], rhs [5,6] (l");
}

}  // namespace
}  // namespace stoker
