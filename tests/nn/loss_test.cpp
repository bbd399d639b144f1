// Losses against numbers worked out by hand or in double precision.
#include "stoker/api/nn/loss.hpp"

#include "../tensor/differences.hpp"
#include "stoker/api/nn/losses.hpp"

namespace stoker::nn {
namespace {

class Losses : public Tensors {
 protected:
  template <class F> static ErrorCode code_of(const F& call) {
    try {
      (void)call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  }
  static double log_sum(double a, double b, double c) {
    return std::log(std::exp(a) + std::exp(b) + std::exp(c));
  }
};

TEST_F(Losses, of_classes_take_indices_or_one_hot_rows) {
  const Tensor logits = tensor<double>({{1.0, 2.0, 0.5}, {-1.0, 0.0, 3.0}});
  const double first = log_sum(1, 2, 0.5) - 2;
  const double second = log_sum(-1, 0, 3) + 1;
  const losses::CategoricalOptions raw{.from_logits = true};
  expect_near(losses::categorical_cross_entropy(tensor({1, 0}), logits, raw), {first, second});
  expect_near(losses::categorical_cross_entropy(tensor({{1}, {0}}), logits, raw), {first, second});
  const Tensor hot = tensor({{0, 1, 0}, {1, 0, 0}});
  expect_near(losses::categorical_cross_entropy(hot, logits, raw), {first, second});
  expect_near(losses::categorical_cross_entropy(hot, softmax(logits)), {first, second});
  EXPECT_NEAR(loss("cross_entropy").of(tensor({1, 0}), logits).item<double>(), (first + second) / 2,
              1e-12);
  EXPECT_NEAR(loss("cross_entropy(reduction=sum)").of(hot, logits).item<double>(), first + second,
              1e-12);
  const double smoothed = 0.9 * first + 0.1 / 3 * (3 * log_sum(1, 2, 0.5) - 3.5);
  EXPECT_NEAR(loss("cross_entropy(label_smoothing=0.1)")
                  .of(tensor({1}), logits[{Range{0, 1}}])
                  .item<double>(),
              smoothed, 1e-12);
}

TEST_F(Losses, of_a_class_that_does_not_exist_are_no_number) {
  const Tensor logits = zeros({2, 3});
  const auto each = losses::categorical_cross_entropy(tensor({3, 1}), logits, {.from_logits = true})
                        .to_vector<float>();
  EXPECT_TRUE(std::isnan(each[0]));
  EXPECT_NEAR(each[1], std::log(3.0F), 1e-6F);
}

TEST_F(Losses, from_logits_stay_finite) {
  const Tensor logits = tensor({{1e4, -1e4}, {-1e4, 1e4}});
  const auto f = [](const Tensor& x) { return loss("cross_entropy").of(tensor({1, 1}), x); };
  EXPECT_NEAR(f(logits).item<double>(), 1e4, 1);
  for (const float slope : grad(f)(logits).to_vector<float>()) EXPECT_TRUE(std::isfinite(slope));
  const auto binary = [](const Tensor& x) {
    return loss("binary_cross_entropy(from_logits=true)").of(tensor({{1, 0}, {1, 0}}), x);
  };
  EXPECT_NEAR(binary(logits).item<double>(), 1e4 / 2, 1);
  for (const float slope : grad(binary)(logits).to_vector<float>())
    EXPECT_TRUE(std::isfinite(slope));
}

TEST_F(Losses, of_two_classes_weigh_and_clip) {
  const Tensor t = tensor<double>({{1.0, 0.0}});
  const Tensor p = tensor<double>({{0.8, 0.3}});
  expect_near(losses::binary_cross_entropy(t, p), {-(std::log(0.8) + std::log(0.7)) / 2});
  expect_near(losses::binary_cross_entropy(t, p, {.negative_weight = 3, .positive_weight = 2}),
              {-(2 * std::log(0.8) + 3 * std::log(0.7)) / 2});
  expect_near(losses::binary_cross_entropy(t, tensor<double>({{0.0, 1.0}})), {-std::log(1e-7)},
              1e-6);
}

TEST_F(Losses, of_numbers_follow_their_formulas) {
  const Tensor t = tensor<double>({{1.0, -2.0}, {0.5, 4.0}});
  const Tensor p = tensor<double>({{1.5, -1.0}, {-2.5, 4.0}});
  expect_near(loss("mse").of(t, p), {(0.25 + 1 + 9 + 0) / 4});
  expect_near(loss("mae").of(t, p), {(0.5 + 1 + 3 + 0) / 4});
  expect_near(losses::huber(t, p), {0.125, 0.5, 2.5, 0});
  expect_near(losses::huber(t, p, 0.5), {0.125, 0.375, 1.375, 0});
  expect_near(losses::log_cosh(t, p), {(std::log(std::cosh(0.5)) + std::log(std::cosh(1.0))) / 2,
                                       std::log(std::cosh(3.0)) / 2});
  expect_near(losses::hinge(tensor<double>({{1.0, -1.0}}), tensor<double>({{0.3, 0.4}})),
              {(0.7 + 1.4) / 2});
  expect_near(losses::categorical_hinge(tensor<double>({{0.0, 1.0, 0.0}}),
                                        tensor<double>({{0.4, 0.6, 0.9}})),
              {1.3});
  expect_near(losses::soft_margin(tensor<double>({{1.0, -1.0}}), tensor<double>({{0.3, 0.4}})),
              {(std::log1p(std::exp(-0.3)) + std::log1p(std::exp(0.4))) / 2});
  expect_near(losses::kl_divergence(tensor<double>({{0.3, 0.7}}), tensor<double>({{0.5, 0.5}})),
              {0.3 * std::log(0.6) + 0.7 * std::log(1.4)});
  expect_near(losses::poisson(tensor<double>({{2.0, 1.0}}), tensor<double>({{1.5, 0.5}})),
              {(1.5 - 2 * std::log(1.5 + 1e-7) + 0.5 - std::log(0.5 + 1e-7)) / 2});
  expect_near(losses::cosine_similarity(tensor<double>({{3.0, 4.0}, {0.0, 0.0}}),
                                        tensor<double>({{4.0, 3.0}, {1.0, 1.0}})),
              {24.0 / 25, 0});
  expect_near(losses::smoothed_labels(tensor<double>({{0.0, 1.0, 0.0, 0.0}}), 0.2),
              {0.05, 0.85, 0.05, 0.05});
}

TEST_F(Losses, have_exact_gradients) {
  const Tensor p = sample({3, 4}, 0.15, 0.9, 2);
  const Tensor t = as_type(tensor({{0, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}}), DType::f64);
  for (const std::string& name : loss_names()) {
    SCOPED_TRACE(name);
    expect_gradient([&](const std::vector<Tensor>& v) { return loss(name).of(t, v[0]); }, {p});
  }
}

TEST_F(Losses, refuse_what_does_not_fit) {
  EXPECT_EQ(code_of([] {
              return loss("mse").of(ones({2, 3}), ones({2, 4}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return loss("cross_entropy").of(tensor({1, 2, 3}), ones({2, 4}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { return loss("msee"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { return loss("mse(delta=1)"); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return loss("mse(reduction=none)"); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return losses::huber(ones({2}), ones({2}), 0); }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] {
              return losses::smoothed_labels(ones({1, 2}), 2);
            }),
            ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker::nn
