// Support vector machines, against ONNX Runtime.
#include <numeric>

#include "stoker/tests/onnx/ml/ml_test.hpp"

namespace stoker::onnx {
namespace {

class SupportVectors : public MlTest {
 protected:
  static Tensor x() { return rows({4, 2}, {1, 2, -1, 0.5F, 0, -1, 0.3F, 0.7F}); }
  static Attributes machine(const Floats& coefficients, const Floats& vectors, const Floats& rho,
                            const std::string& kernel = "RBF") {
    return {named("coefficients", coefficients), named("support_vectors", vectors),
            named("rho", rho), named("kernel_params", Floats{0.5F, 0.2F, 3}),
            text("kernel_type", kernel)};
  }
  static Attributes two(const Attributes& more = {}, const std::string& kernel = "RBF") {
    return with(
        with(machine({0.7F, 0.4F, -1.1F}, {1, 0, 0.5F, 1, -1, 0.5F}, {0.1F}, kernel),
             {named("vectors_per_class", Whole{2, 1}), named("classlabels_ints", Whole{3, 4})}),
        more);
  }
  static Attributes three(const Attributes& more = {}) {
    return with(with(machine({0.7F, 0.4F, -1.1F, 0.2F, 0.3F, -0.5F, 0.6F, -0.8F},
                             {1, 0, 0.5F, 1, -1, 0.5F, 0, -1}, {0.1F, -0.2F, 0.3F}),
                     {named("vectors_per_class", Whole{2, 1, 1}),
                      named("classlabels_strings", Words{"a", "b", "c"})}),
                more);
  }
  static Attributes chances(const Floats& a, const Floats& b) {
    return {named("prob_a", a), named("prob_b", b)};
  }
  void expect_two(const Attributes& all, const Doubles& scores) {
    const auto [labels, got] = classified("SVMClassifier", x(), all);
    EXPECT_EQ(labels, (Whole{3, 4, 3, 3}));
    expect_near(got, scores);
  }
  void expect_three(const Attributes& more, const Doubles& scores) {
    const NamedValues out = run("SVMClassifier", {x()}, three(more), 2);
    EXPECT_EQ(out.at("y").texts().strings, (Words{"a", "b", "a", "a"}));
    expect_near(floats(out, "z"), scores);
  }
};

TEST_F(SupportVectors, have_four_kernels) {
  expect_two(two({}, "LINEAR"), {-1.8, 1.8, 1.975, -1.975, -0.25, 0.25, -0.595, 0.595});
  expect_two(two({}, "POLY"), {-1.5508, 1.5508, 0.5334, -0.5334, -0.0949, 0.0949, -0.2151, 0.2151});
  expect_two(two({}, "RBF"), {-0.3605, 0.3605, 0.8018, -0.8018, -0.1887, 0.1887, -0.4405, 0.4405});
  expect_two(two({}, "SIGMOID"),
             {-0.6642, 0.6642, 0.7705, -0.7705, -0.1766, 0.1766, -0.3139, 0.3139});
}

TEST_F(SupportVectors, of_two_classes_give_two_scores) {
  expect_two(two({text("post_transform", "LOGISTIC")}),
             {0.4108, 0.5892, 0.6904, 0.3096, 0.453, 0.547, 0.3916, 0.6084});
  expect_two(two({text("post_transform", "SOFTMAX")}),
             {0.6395, 0.3605, 1.8018, -0.8018, 0.8113, 0.1887, 0.5595, 0.4405});
  expect_two(two(chances({-1.2F}, {0.3F})),
             {0.5331, 0.4669, 0.2206, 0.7794, 0.4816, 0.5184, 0.5568, 0.4432});
}

TEST_F(SupportVectors, of_more_classes_give_a_score_for_each_pair_or_chances) {
  expect_three({}, {0.3605, -0.4257, 0.321, -0.8018, -0.268, 0.7425, 0.1887, 0.0506, -0.3819,
                    0.4405, -0.4397, 0.3723});
  expect_three({text("post_transform", "SOFTMAX")},
               {0.4138, 0.1885, 0.3977, 0.1353, 0.2308, 0.6339, 0.4105, 0.3575, 0.232, 0.4257,
                0.1766, 0.3977});
  const Attributes with_chances = chances({-1.2F, -0.7F, -2}, {0.3F, 0, -0.1F});
  expect_three(with_chances, {0.3275, 0.3945, 0.2781, 0.1706, 0.6746, 0.1549, 0.3341, 0.2683,
                              0.3976, 0.3397, 0.3897, 0.2707});
  expect_three(with(with_chances, {text("post_transform", "SOFTMAX")}),
               {0.331, 0.3539, 0.3151, 0.2747, 0.4548, 0.2705, 0.3331, 0.3119, 0.355, 0.3351,
                0.3522, 0.3127});
}

TEST_F(SupportVectors, of_many_classes_take_little_memory) {
  // By each pair alone the earlier class is likelier. A table of pairs and two classes would take 13 GB.
  constexpr std::size_t classes = 200, pairs = classes * (classes - 1) / 2;
  Whole labels(classes);
  std::iota(labels.begin(), labels.end(), 0);
  const NamedValues out = run(
      "SVMClassifier", {rows({1, 1}, {1})},
      with(
          machine(Floats((classes - 1) * classes), Floats(classes, 1), Floats(pairs, 1)),
          with(chances(Floats(pairs, -1), Floats(pairs)),
               {named("vectors_per_class", Whole(classes, 1)), named("classlabels_ints", labels)})),
      2);
  EXPECT_EQ(whole(out, "y"), Whole{0});
  const Floats scores = floats(out, "z");
  ASSERT_EQ(scores.size(), classes);
  EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), 1, 1e-3);
  EXPECT_GT(scores[0], scores[100]);
  EXPECT_GT(scores[100], scores[199]);
}

TEST_F(SupportVectors, are_missing_from_linear_machines) {
  const Attributes three_linear{named("coefficients", Floats{0.7F, 0.4F, -1.1F, 0.3F, 0.2F, 0.2F}),
                                named("rho", Floats{0.1F}),
                                named("classlabels_ints", Whole{3, 4, 5})};
  const auto [labels, scores] = classified("SVMClassifier", x(), three_linear);
  EXPECT_EQ(labels, (Whole{3, 4, 5, 3}));
  expect_near(scores, {1.6, -0.4, 0.7, -0.4, 1.35, 0, -0.3, -0.2, -0.1, 0.59, -0.02, 0.3});
  const Attributes regressor{named("coefficients", Floats{0.7F, 0.4F}), named("rho", Floats{0.1F})};
  expect_near(reals("SVMRegressor", {x()}, regressor), {1.6, -0.4, -0.3, 0.59});
}

TEST_F(SupportVectors, regress) {
  const Attributes all = with(machine({0.7F, 0.4F, -1.1F}, {1, 0, 0.5F, 1, -1, 0.5F}, {0.1F}),
                              {named("n_supports", std::int64_t{3})});
  expect_near(reals("SVMRegressor", {x()}, all), {0.3605, -0.8018, 0.1887, 0.4405});
  EXPECT_EQ(reals("SVMRegressor", {x()}, with(all, {named("one_class", std::int64_t{1})})),
            (Floats{1, -1, 1, 1}));
  expect_near(
      reals("SVMRegressor", {x()},
            with(without(without(all, "kernel_type"), "kernel_params"),
                 {text("kernel_type", "POLY"), named("kernel_params", Floats{0.5F, 2.5F, 2.5F})})),
      {11.0344, -10.977, 0.9271, 2.8111});
}

TEST_F(SupportVectors, that_do_not_fit_are_refused) {
  const auto of = [&](const char* name, AttributeValue value) {
    return code("SVMClassifier", {x()},
                with(without(two(), name), {named(name, std::move(value))}));
  };
  EXPECT_EQ(of("coefficients", Floats{1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("support_vectors", Floats{1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("rho", Floats{1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("kernel_params", Floats{1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("kernel_type", std::string{"CUBIC"}), ErrorCode::invalid_parameter);
  EXPECT_EQ(of("vectors_per_class", Whole{2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("vectors_per_class", Whole{4, -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("vectors_per_class", Whole{std::int64_t{1} << 40, 1}), ErrorCode::limit_exceeded);
  EXPECT_EQ(of("prob_a", Floats{1}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("classlabels_ints", Whole{}), ErrorCode::invalid_argument);
  EXPECT_EQ(code("SVMRegressor", {x()}, {named("n_supports", std::int64_t{-1})}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code("SVMRegressor", {x()}, {named("n_supports", std::int64_t{1} << 62)}),
            ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace stoker::onnx
