// Features on a common scale, and labels as vectors. Numbers are worked out by hand.
#include "stoker/api/data/normalize.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Normalizing : public Tensors {
 protected:
  // Columns: mean 3, deviation sqrt(8/3); constant; mean 0, deviation sqrt(2/3).
  Tensor x = tensor({{1.0, 0.1, -1.0}, {3.0, 0.1, 0.0}, {5.0, 0.1, 1.0}});
};

TEST_F(Normalizing, standard_has_mean_0_and_the_populations_deviation_1_by_column) {
  const double z = std::sqrt(1.5);
  expect_near(normalize(x), {-z, 0, -z, 0, 0, 0, z, 0, z});
}

TEST_F(Normalizing, a_constant_feature_gives_exactly_0) {
  // 0.1 seven times: its mean in f32 need not be 0.1.
  const Tensor constant = full(Shape{7, 1}, 0.1);
  EXPECT_EQ(normalize(constant).to_vector<float>(), std::vector<float>(7, 0.F));
  EXPECT_EQ(normalize(constant, {NormalizeMethod::minmax}).to_vector<float>(),
            std::vector<float>(7, 0.F));
}

TEST_F(Normalizing, minmax_goes_from_0_to_1_by_column) {
  expect_near(normalize(x, {NormalizeMethod::minmax}), {0, 0, 0, 0.5, 0, 0.5, 1, 0, 1});
}

TEST_F(Normalizing, l2_makes_each_row_1_long_and_leaves_zeros) {
  const Tensor rows = tensor({{3.0, 4.0}, {0.0, 0.0}, {0.0, -2.0}});
  expect_near(normalize(rows, {NormalizeMethod::l2}), {0.6, 0.8, 0, 0, 0, -1});
  expect_near(normalize(tensor({3.0, 4.0}), {NormalizeMethod::l2}), {0.6, 0.8});
  expect_near(normalize(tensor({{3e30, 4e30}, {3e-30, 4e-30}}), {NormalizeMethod::l2}),
              {0.6, 0.8, 0.6, 0.8});
  expect_near(normalize(reshape(rows, {3, 1, 2}), {NormalizeMethod::l2}), {0.6, 0.8, 0, 0, 0, -1});
}

TEST_F(Normalizing, axes_are_honoured) {
  const Tensor square = tensor({{1.0, 3.0}, {10.0, 30.0}});
  expect_near(normalize(square, {NormalizeMethod::standard, Axes{1}}), {-1, 1, -1, 1});
  expect_near(normalize(square, {NormalizeMethod::standard, Axes{-1}}), {-1, 1, -1, 1});
  expect_near(normalize(square, {NormalizeMethod::minmax, Axes{0, 1}}), {0, 2.0 / 29, 9.0 / 29, 1});
  expect_near(normalize(tensor({{3.0, 0.0}, {4.0, 1.0}}), {NormalizeMethod::l2, Axes{0}}),
              {0.6, 0, 0.8, 1});
}

TEST_F(Normalizing, integers_become_f32_and_f64_stays) {
  EXPECT_EQ(normalize(tensor({1, 3})).dtype(), DType::f32);
  expect_near(normalize(tensor({1, 3})), {-1, 1});
  EXPECT_EQ(normalize(tensor<double>({1, 3})).dtype(), DType::f64);
}

TEST_F(Normalizing, statistics_of_some_rows_serve_for_others) {
  const NormalStats seen = normalize_stats(x);
  EXPECT_EQ(seen.shift.shape(), (Shape{1, 3}));
  expect_near(normalize_with_stats(x, seen), normalize(x).to_vector<double>());
  expect_near(normalize_with_stats(tensor({{7.0, 0.6, 2.0}}), seen),
              {4 / std::sqrt(8.0 / 3), 0.5, 2 / std::sqrt(2.0 / 3)});
  const NormalStats range = normalize_stats(x, {NormalizeMethod::minmax});
  expect_near(normalize_with_stats(tensor({{9.0, 0.6, -3.0}}), range), {2, 0.5, -1});
}

TEST_F(Normalizing, it_is_traced_by_jit) {
  const auto fast = jit([](const Tensor& t) { return normalize(t, {NormalizeMethod::minmax}); });
  expect_near(fast(x), {0, 0, 0, 0.5, 0, 0.5, 1, 0, 1});
}

TEST_F(Normalizing, what_cannot_be_normalized_is_refused) {
  const Error error = error_of([&] { return normalize(x, {NormalizeMethod{7}}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.reason(),
            "expected a method, one of standard, minmax, l2, got a NormalizeMethod of 7");
  EXPECT_EQ(code_of([] { return normalize(tensor(1.0)); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { return normalize(zeros(Shape{0, 3})); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] {
              return normalize(x, {NormalizeMethod::standard, Axes{2}});
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] { return normalize_stats(x, {NormalizeMethod::l2}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              return normalize_with_stats(tensor({1.0, 2.0}), normalize_stats(x));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { return normalize_with_stats(x, {}); }), ErrorCode::shape_mismatch);
}

TEST_F(Normalizing, one_hot_has_as_many_classes_as_the_largest_label_needs) {
  const Tensor hot = one_hot(tensor({2, 0}));
  EXPECT_EQ(hot.dtype(), DType::f32);
  expect_values<float>(hot, {2, 3}, {0, 0, 1, 1, 0, 0});
}

TEST_F(Normalizing, one_hot_takes_a_number_of_classes_and_gives_zeros_beyond) {
  expect_values<float>(one_hot(tensor({1, 4, -1}), 2), {3, 2}, {0, 1, 0, 0, 0, 0});
  expect_values<float>(one_hot(tensor<std::uint8_t>({{0}, {1}}), 2), {2, 1, 2}, {1, 0, 0, 1});
  const auto fast = jit([](const Tensor& t) { return one_hot(t, 2); });
  expect_values<float>(fast(tensor({1})), {1, 2}, {0, 1});
}

TEST_F(Normalizing, labels_that_are_none_are_refused) {
  EXPECT_EQ(code_of([] { return one_hot(tensor({1.0})); }), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([] { return one_hot(tensor({1}), 0); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return one_hot(zeros(Shape{0}, DType::s32)); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return one_hot(tensor({-3})); }), ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker::nn
