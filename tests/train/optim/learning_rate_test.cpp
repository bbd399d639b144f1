// The learning rate of now, as callbacks see it.
#include "stoker/api/train/loop/learning_rate.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"

#include "stoker/tests/train/trained.hpp"

namespace stoker::nn {
namespace {

class LearningRates : public Trained {
 protected:
  [[nodiscard]] static Model with_options(ModelOptions options) {
    options.loss = "mse";
    return Model{Network{dense(input({2}), 1, {.name = "line"})}, std::move(options)};
  }
  /// What a callback reads after each epoch of three batches.
  [[nodiscard]] static std::vector<double> seen(Model model, std::vector<Callback> before = {}) {
    std::vector<double> rates;
    before.emplace_back([&](const EpochMetrics&, Training& training) {
      rates.push_back(learning_rate(training.model()));
    });
    fit(model, rows(10), with(3, std::move(before)));
    return rates;
  }
  static void expect_rates(const std::vector<double>& got, const std::vector<double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-7) << i;
  }
};

TEST_F(LearningRates, are_the_optimizers_own_unless_options_say_another) {
  EXPECT_DOUBLE_EQ(learning_rate(with_options({})), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(with_options({.optimizer = "sgd"})), 1e-2);
  EXPECT_DOUBLE_EQ(learning_rate(with_options({.optimizer = "sgd(learning_rate=0.25)"})), 0.25);
  EXPECT_DOUBLE_EQ(
      learning_rate(with_options({.optimizer = "sgd(learning_rate=0.25)", .learning_rate = 0.5})),
      0.5);
}

TEST_F(LearningRates, of_a_schedule_are_those_of_the_next_update) {
  const Schedule halves = schedule("step(base=1, size=3, gamma=0.5)");
  expect_rates(seen(with_options({.optimizer = "sgd", .schedule = halves})), {0.5, 0.25, 0.125});
}

TEST_F(LearningRates, of_a_schedule_count_updates_when_gradients_are_accumulated) {
  const Schedule halves = schedule("step(base=1, size=1, gamma=0.5)");
  expect_rates(
      seen(with_options({.optimizer = "sgd", .accumulate_gradients = 3, .schedule = halves})),
      {0.5, 0.25, 0.125});
}

TEST_F(LearningRates, follow_callbacks_that_change_them) {
  expect_rates(seen(with_options({.learning_rate = 0.1}), {callbacks::warmup({.epochs = 2})}),
               {0.05, 0.1, 0.1});
}

TEST_F(LearningRates, are_what_a_step_of_plain_descent_multiplies_by) {
  Model model = with_options(
      {.optimizer = "sgd", .schedule = schedule("step(base=0.5, size=1, gamma=0.5)"), .seed = 3});
  const Batch batch{{tensor({{1.0, 2.0}})}, {tensor({{3.0}})}, 1};
  model.set_learning_rate_scale(0.1);
  model.train_step(batch);
  const double rate = learning_rate(model);
  const std::vector<float> before = values(model).at("line.bias");
  const std::vector<float> gradient =
      model.compute_gradients(batch).gradients.at("line.bias").to_vector<float>();
  model.train_step(batch);
  EXPECT_NEAR(rate, 0.025, 1e-8);
  EXPECT_NEAR(values(model).at("line.bias")[0], before[0] - rate * gradient[0], 1e-6);
}

}  // namespace
}  // namespace stoker::nn
