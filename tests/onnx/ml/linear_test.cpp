// Linear models, against ONNX Runtime.
#include "stoker/tests/onnx/ml/ml_test.hpp"

namespace stoker::onnx {
namespace {

class Linear : public MlTest {
 protected:
  static Tensor x() { return rows({3, 2}, {1, 2, -3, 4, 0.5F, -0.25F}); }
  static Attributes of(const Floats& coefficients, const Floats& intercepts,
                       const std::string& after = "NONE") {
    return {named("coefficients", coefficients), named("intercepts", intercepts),
            text("post_transform", after)};
  }
  static Attributes three(const std::string& after) {
    return with(of({0.1F, 0.2F, -0.3F, 0.1F, 0.5F, 0.5F}, {0.05F, 0, 0.1F}, after),
                {named("classlabels_strings", Words{"a", "b", "c"})});
  }
  static Attributes one(const std::string& after) {
    return with(of({0.1F, 0.2F}, {0.05F}, after), {named("classlabels_ints", Whole{3, 4})});
  }
};

TEST_F(Linear, regressors_have_a_number_for_each_target) {
  expect_near(reals("LinearRegressor", {x()}, of({0.1F, 0.2F}, {0.05F})), {0.55, 0.55, 0.05});
  EXPECT_EQ(reals("LinearRegressor", {rows({2}, {1, 2})}, of({0.25F, 0.5F}, {})), (Floats{1.25F}));
  const auto two = [&](const char* after) {
    return reals("LinearRegressor", {x()},
                 with(of({0.1F, 0.2F, 0.3F, 0.4F}, {0.05F, 0.1F}, after),
                      {named("targets", std::int64_t{2})}));
  };
  expect_near(two("NONE"), {0.55, 1.2, 0.55, 0.8, 0.05, 0.15});
  expect_near(two("LOGISTIC"), {0.6341, 0.7685, 0.6341, 0.69, 0.5125, 0.5374});
  expect_near(two("SOFTMAX"), {0.343, 0.657, 0.4378, 0.5622, 0.475, 0.525});
  // Of one target ONNX Runtime transforms nothing; the standard makes no difference.
  expect_near(reals("LinearRegressor", {x()}, of({0.1F, 0.2F}, {0.05F}, "LOGISTIC")),
              {0.6341, 0.6341, 0.5125});
}

TEST_F(Linear, classifiers_choose_the_largest_score) {
  const auto scores = [&](const char* after) {
    const NamedValues out = run("LinearClassifier", {x()}, three(after), 2);
    EXPECT_EQ(out.at("y").texts().strings, (Words{"c", "b", "c"}));
    return floats(out, "z");
  };
  expect_near(scores("NONE"), {0.55, -0.1, 1.6, 0.55, 1.3, 0.6, 0.05, -0.175, 0.225});
  expect_near(scores("LOGISTIC"),
              {0.6341, 0.475, 0.832, 0.6341, 0.7858, 0.6457, 0.5125, 0.4564, 0.556});
  expect_near(scores("SOFTMAX"),
              {0.2283, 0.1192, 0.6525, 0.2399, 0.5079, 0.2522, 0.3345, 0.2671, 0.3984});
  expect_near(scores("SOFTMAX_ZERO"),
              {0.2283, 0.1192, 0.6525, 0.2399, 0.5079, 0.2522, 0.3345, 0.2671, 0.3984});
}

TEST_F(Linear, one_score_tells_two_classes_apart) {
  const auto of_one = [&](const char* after, const Doubles& expected) {
    const auto [labels, scores] = classified("LinearClassifier", x(), one(after));
    EXPECT_EQ(labels, (Whole{4, 4, 4}));
    expect_near(scores, expected);
  };
  of_one("NONE", {0.45, 0.55, 0.45, 0.55, 0.95, 0.05});
  of_one("SOFTMAX", {0.45, 0.55, 0.45, 0.55, 0.95, 0.05});
  of_one("LOGISTIC", {0.3659, 0.6341, 0.3659, 0.6341, 0.4875, 0.5125});
}

TEST_F(Linear, integers_and_doubles_are_features_too) {
  const Value doubles = as_type(rows({2, 2}, {1, 2, -3, 4}), DType::f64);
  for (const Value& given : {whole_numbers({2, 2}, {1, 2, -3, 4}),
                             whole_numbers({2, 2}, {1, 2, -3, 4}, ElementType::s32), doubles})
    expect_near(classified("LinearClassifier", given, one("NONE")).second,
                {0.45, 0.55, 0.45, 0.55});
}

TEST_F(Linear, coefficients_that_do_not_fit_are_refused) {
  EXPECT_EQ(code("LinearRegressor", {x()}, of({1, 2, 3}, {})), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("LinearRegressor", {x()}, of({1, 2}, {1, 2})), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("LinearRegressor", {x()}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code("LinearRegressor", {x()}, with(of({}, {}), {named("targets", std::int64_t{0})})),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(
      code("LinearRegressor", {x()}, with(of({}, {}), {named("targets", std::int64_t{1} << 62)})),
      ErrorCode::limit_exceeded);
  EXPECT_EQ(code("LinearRegressor", {ones({1, 1, 2})}, of({1, 2}, {})), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("LinearClassifier", {x()}, without(one("NONE"), "classlabels_ints")),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("LinearClassifier", {x()}, one("X")), ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker::onnx
