// Losses against their formulas in double precision, at the ends of what floats can hold, and by name.
#include "stoker/api/nn/functional/loss.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using Losses = Tensors;
using LossesOnDevices = TensorsOnDevices;
INSTANTIATE_TEST_SUITE_P(Devices, LossesOnDevices, every_device(), device_name);
using losses::CategoricalOptions;
using Row = std::vector<double>;
using RowFormula = std::function<double(const Row& t, const Row& p)>;

/// Rows of a batch [4, 5].
constexpr std::int64_t batch = 4;
constexpr std::int64_t width = 5;

double plus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

RowFormula mean_of(const std::function<double(double t, double p)>& element) {
  return [element](const Row& t, const Row& p) {
    double total = 0;
    for (std::size_t i = 0; i < t.size(); ++i) total += element(t[i], p[i]);
    return total / static_cast<double>(t.size());
  };
}

double cross_entropy(const Row& t, const Row& p) {
  double total = 0;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i] != 0) total -= t[i] * std::log(p[i]);
  return total;
}

Row softmaxed(const Row& x) {
  double total = 0;
  Row made;
  for (const double one : x) total += std::exp(one);
  for (const double one : x) made.push_back(std::exp(one) / total);
  return made;
}

double categorical_hinge(const Row& t, const Row& p) {
  double right = 0;
  double wrong = -1e300;
  for (std::size_t i = 0; i < t.size(); ++i) {
    right += t[i] * p[i];
    wrong = std::max(wrong, (1 - t[i]) * p[i]);
  }
  return std::max(0.0, 1 + wrong - right);
}

double cosine(const Row& t, const Row& p) {
  double both = 0;
  double of_t = 0;
  double of_p = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    both += t[i] * p[i];
    of_t += t[i] * t[i];
    of_p += p[i] * p[i];
  }
  return both / (std::sqrt(of_t) * std::sqrt(of_p));
}

double divergence(const Row& t, const Row& p) {
  double total = 0;
  for (std::size_t i = 0; i < t.size(); ++i) total += t[i] * std::log(t[i] / p[i]);
  return total;
}

/// What targets and predictions of a loss look like.
enum class Numbers { any, bits, signs, probabilities, one_hot };

Tensor numbers(Numbers kind, double seed) {
  Tensor any = sample({batch, width}, -3, 3, seed);
  switch (kind) {
    case Numbers::bits: return as_type(greater(any, 0.0), DType::f64);
    case Numbers::signs: return sign(any);
    case Numbers::probabilities: return softmax(0.4 * any);  // near 0 differences are too coarse
    case Numbers::one_hot:
      return as_type(equal(iota({width}), tensor({{1}, {4}, {0}, {2}})), DType::f64);
    case Numbers::any: break;
  }
  return any;
}

struct Case {
  const char* name;
  Numbers target;
  Numbers prediction;
  RowFormula formula;
};

const std::vector<Case>& cases() {
  using enum Numbers;
  static const std::vector<Case> all{
      {"binary_cross_entropy", bits, probabilities,
       mean_of([](double t, double p) { return -t * std::log(p) - (1 - t) * std::log(1 - p); })},
      {"binary_cross_entropy(from_logits=true)", bits, any,
       mean_of([](double t, double x) { return t * plus(-x) + (1 - t) * plus(x); })},
      {"binary_cross_entropy(positive_weight=3, negative_weight=0.5)", bits, probabilities,
       mean_of([](double t, double p) {
         return -3 * t * std::log(p) - 0.5 * (1 - t) * std::log(1 - p);
       })},
      {"categorical_cross_entropy", one_hot, probabilities, cross_entropy},
      {"categorical_cross_entropy", probabilities, probabilities, cross_entropy},
      {"cross_entropy", one_hot, any,
       [](const Row& t, const Row& x) { return cross_entropy(t, softmaxed(x)); }},
      {"cross_entropy(label_smoothing=0.2)", one_hot, any,
       [](const Row& t, const Row& x) {
         Row smooth;
         for (const double one : t) smooth.push_back(one * 0.8 + 0.2 / width);
         return cross_entropy(smooth, softmaxed(x));
       }},
      {"categorical_hinge", one_hot, any, categorical_hinge},
      {"cosine_similarity", any, any, cosine},
      {"hinge", signs, any, mean_of([](double t, double p) { return std::max(0.0, 1 - t * p); })},
      {"kl_divergence", probabilities, probabilities, divergence},
      {"log_cosh", any, any,
       mean_of([](double t, double p) { return std::log(std::cosh(p - t)); })},
      {"mean_absolute_error", any, any,
       mean_of([](double t, double p) { return std::abs(p - t); })},
      {"mean_squared_error", any, any,
       mean_of([](double t, double p) { return (p - t) * (p - t); })},
      {"poisson", any, probabilities,
       mean_of([](double t, double p) { return p - t * std::log(p + 1e-7); })},
      {"soft_margin", signs, any, mean_of([](double t, double p) { return plus(-t * p); })},
      {"huber", any, any, mean_of([](double t, double p) {
         const double d = std::abs(p - t);
         return d <= 1 ? d * d / 2 : d - 0.5;
       })},
      {"huber(delta=2.5)", any, any, mean_of([](double t, double p) {
         const double d = std::abs(p - t);
         return d <= 2.5 ? d * d / 2 : 2.5 * (d - 1.25);
       })},
      {"mae", any, any, mean_of([](double t, double p) { return std::abs(p - t); })},
      {"mse", any, any, mean_of([](double t, double p) { return (p - t) * (p - t); })},
  };
  return all;
}

/// The formula's mean over the rows.
double mean_over_rows(const Case& one, const Tensor& target, const Tensor& prediction) {
  const Row t = target.to_vector<double>();
  const Row p = prediction.to_vector<double>();
  double total = 0;
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int64_t from = row * width;
    total += one.formula({t.begin() + from, t.begin() + from + width},
                         {p.begin() + from, p.begin() + from + width});
  }
  return total / batch;
}

TEST_F(Losses, are_their_formulas) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Tensor t = numbers(one.target, 0.4);
    const Tensor p = numbers(one.prediction, 2.1);
    const Tensor mean = loss(one.name).of(t, p);
    EXPECT_EQ(mean.spec(), (TensorSpec{DType::f64, {}}));
    expect_near(mean, {mean_over_rows(one, t, p)}, 1e-9);
  }
}

TEST_P(LossesOnDevices, are_their_formulas) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Tensor t = as_type(numbers(one.target, 0.4), DType::f32);
    const Tensor p = as_type(numbers(one.prediction, 2.1), DType::f32);
    const Tensor mean = loss(one.name).of(t, p);
    EXPECT_EQ(mean.dtype(), DType::f32);
    expect_near(mean, {mean_over_rows(one, t, p)}, 1e-5);
  }
}

TEST_P(LossesOnDevices, have_the_gradient_of_cross_entropy) {
  const Tensor logits = tensor({{1.0, 2.0, -1.0}, {0.0, 0.5, 3.0}});
  const Tensor index = tensor({2, 0});
  const Tensor got =
      grad([&](const Tensor& x) { return loss("cross_entropy").of(index, x); })(logits);
  const Tensor hot = tensor({{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}});
  expect_near(got, ((softmax(logits) - hot) / 2).to_vector<double>());
}

TEST_F(Losses, have_gradients_by_the_prediction) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Tensor t = numbers(one.target, 0.4);
    expect_gradient([&](const std::vector<Tensor>& v) { return loss(one.name).of(t, v[0]); },
                    {numbers(one.prediction, 2.1)});
  }
}

TEST_F(Losses, are_the_same_when_they_are_traced) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Tensor t = numbers(one.target, 0.4);
    const Tensor p = numbers(one.prediction, 2.1);
    expect_near(jit(loss(one.name).of)(t, p), {loss(one.name).of(t, p).item<double>()}, 1e-12);
  }
}

TEST_F(Losses, of_each_example_are_those_of_batches_of_one) {
  for (const char* name : {"cross_entropy", "cross_entropy(label_smoothing=0.1)"}) {
    const Tensor logits = numbers(Numbers::any, 0.7);
    const Tensor index = tensor({1, 4, 9, 2});  // 9 is no class
    const auto each = vmap(loss(name).of)(index, logits).to_vector<double>();
    for (std::int64_t row = 0; row < batch; ++row) {
      const double one =
          loss(name).of(index[Range{row, row + 1}], logits[Range{row, row + 1}]).item<double>();
      const double got = each[static_cast<std::size_t>(row)];
      if (row == 2) {
        EXPECT_TRUE(std::isnan(got) && std::isnan(one));
      } else {
        EXPECT_NEAR(got, one, 1e-12);
      }
    }
  }
}

TEST_F(Losses, and_their_gradients_are_numbers_for_large_predictions) {
  const Tensor bits = tensor({{1.0, 0.0, 1.0, 0.0}});
  const Tensor p = tensor({{1e4, 1e4, -1e4, -1e4}});
  for (const char* name :
       {"binary_cross_entropy", "binary_cross_entropy(from_logits=true)",
        "categorical_cross_entropy", "cross_entropy", "categorical_hinge", "cosine_similarity",
        "hinge", "huber", "kl_divergence", "log_cosh", "mse", "soft_margin"}) {
    SCOPED_TRACE(name);
    const auto [value, slope] =
        value_and_grad([&](const Tensor& x) { return loss(name).of(bits, x); })(p);
    EXPECT_TRUE(std::isfinite(value.item<float>()));
    for (const float one : slope.to_vector<float>()) EXPECT_TRUE(std::isfinite(one));
  }
  expect_near(loss("binary_cross_entropy(from_logits=true)").of(bits, p), {5000});
  expect_near(loss("log_cosh").of(bits, p), {1e4 - std::log(2.0)});
}

TEST_F(Losses, keep_what_is_small) {
  const Tensor d = tensor({{1e-3, -2e-3}});
  expect_near(losses::log_cosh(zeros({1, 2}), d) * 1e6, {1.25}, 1e-5);
  const double least = std::log1p(std::exp(-20)) * 1e9;
  const Tensor sure = full({1, 1}, 20.0);
  expect_near(loss("binary_cross_entropy(from_logits=true)").of(ones({1, 1}), sure) * 1e9, {least});
  expect_near(loss("soft_margin").of(ones({1, 1}), sure) * 1e9, {least});
}

TEST_F(Losses, hold_for_rows_whose_squares_leave_the_range) {
  const Tensor t = tensor({{3e20, 4e20}});
  const Tensor p = tensor({{4e30, 3e30}});
  expect_near(losses::cosine_similarity(t, p), {0.96});
  const auto similarity = [&](const Tensor& x) { return sum(losses::cosine_similarity(t, x)); };
  // (t/|t| - cos · p/|p|) / |p|
  expect_near(grad(similarity)(p) * 1e30, {(0.6 - 0.96 * 0.8) / 5, (0.8 - 0.96 * 0.6) / 5}, 1e-6);
}

TEST_F(Losses, have_no_slope_between_rows_of_zeros) {
  const auto similarity = [](const Tensor& p) {
    return sum(losses::cosine_similarity(zeros({1, 3}), p));
  };
  expect_values<float>(grad(similarity)(zeros({1, 3})), {1, 3}, {0, 0, 0});
  const auto error = [](const Tensor& p) { return sum(losses::log_cosh(zeros({1, 2}), p)); };
  expect_values<float>(grad(error)(zeros({1, 2})), {1, 2}, {0, 0});
}

TEST_F(Losses, have_one_number_for_each_row) {
  const Tensor x = sample({2, 3, 4});
  EXPECT_EQ(losses::mean_squared_error(x, x).shape(), (Shape{2, 3}));
  EXPECT_EQ(losses::categorical_cross_entropy(x, x).shape(), (Shape{2, 3}));
  EXPECT_EQ(losses::huber(x, x).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(losses::cosine_similarity(x, x).shape(), (Shape{2, 4}));
  EXPECT_EQ(losses::cosine_similarity(x, x, {.axes = {-1}}).shape(), (Shape{2, 3}));
}

TEST_F(Losses, are_reduced_as_asked) {
  const Tensor each = tensor({1.0, 2.0, 6.0});
  expect_values<float>(losses::reduced(each, losses::Reduction::none), {3}, {1, 2, 6});
  EXPECT_EQ(losses::reduced(each, losses::Reduction::mean).item<float>(), 3);
  EXPECT_EQ(losses::reduced(each, losses::Reduction::sum).item<float>(), 9);
  const Tensor p = tensor({{1.0, 3.0}, {0.0, 0.0}});
  EXPECT_EQ(loss("mse").of(zeros({2, 2}), p).item<float>(), 2.5);
  EXPECT_EQ(loss("mse(reduction=sum)").of(zeros({2, 2}), p).item<float>(), 5);
}

TEST_F(Losses, of_narrow_predictions_are_f32) {
  const Tensor t = tensor({{0.0, 1.0}});
  for (const DType dtype : {DType::f16, DType::bf16, DType::s32}) {
    const Tensor made = loss("mse").of(t, full({1, 2}, 300, dtype));
    EXPECT_EQ(made.dtype(), DType::f32);
    expect_near(made, {(300.0 * 300 + 299.0 * 299) / 2});  // 300² is no f16
  }
}

// Classes ---------------------------------------------------------------------------------------------

Tensor classes_loss(const Tensor& target, const Tensor& logits, CategoricalOptions options = {}) {
  options.from_logits = true;
  return losses::categorical_cross_entropy(target, logits, options);
}

TEST_F(Losses, know_classes_by_index) {
  const Tensor logits = numbers(Numbers::any, 0.7);
  const std::vector<double> want =
      classes_loss(numbers(Numbers::one_hot, 0), logits).to_vector<double>();
  for (const DType dtype :
       {DType::u8, DType::s8, DType::u16, DType::s32, DType::u32, DType::s64, DType::u64}) {
    const Tensor index = as_type(tensor({1, 4, 0, 2}), dtype);
    expect_near(classes_loss(index, logits), want, 1e-12);
    expect_near(classes_loss(reshape(index, {4, 1}), logits), want, 1e-12);
  }
}

TEST_F(Losses, know_more_classes_than_a_u8_index_can_name) {
  const Tensor logits = sample({1, 300});
  const double want = -log_softmax(logits)[{0, 200}].item<double>();
  expect_near(classes_loss(tensor<std::uint8_t>({200}), logits), {want}, 1e-12);
}

TEST_F(Losses, weigh_and_smooth_indices_as_rows) {
  const Tensor logits = numbers(Numbers::any, 0.7);
  const Tensor index = tensor({1, 4, 0, 2});
  const Tensor weights = tensor<double>({0.5, 1, 2, 4, 8});
  for (const double smoothing : {0.0, 0.3})
    for (const Tensor& weight : {Tensor{}, weights}) {
      const CategoricalOptions options{.label_smoothing = smoothing, .class_weights = weight};
      expect_near(classes_loss(index, logits, options),
                  classes_loss(numbers(Numbers::one_hot, 0), logits, options).to_vector<double>(),
                  1e-12);
    }
  // Without smoothing a weight multiplies the row's loss.
  const Tensor weighed = classes_loss(index, logits, {.class_weights = weights});
  expect_near(weighed / classes_loss(index, logits), {1, 8, 0.5, 2}, 1e-12);
}

TEST_F(Losses, smooth_labels_towards_all_classes) {
  expect_near(losses::smoothed_labels(tensor({{0.0, 1.0}}), 0.2), {0.1, 0.9});
  expect_near(losses::smoothed_labels(tensor({{0, 1, 0, 0}})), {0.025, 0.925, 0.025, 0.025});
}

TEST_F(Losses, of_an_index_that_is_no_class_are_not_a_number) {
  const Tensor logits = zeros({3, 2});
  const auto each = classes_loss(tensor({0, 2, -1}), logits).to_vector<float>();
  EXPECT_NEAR(each[0], std::log(2), 1e-6);
  EXPECT_TRUE(std::isnan(each[1]));
  EXPECT_TRUE(std::isnan(each[2]));
  const auto large = classes_loss(tensor<std::int64_t>({1LL << 32, 1, 0}), logits);
  EXPECT_TRUE(std::isnan(large.to_vector<float>()[0])) << "2^32 is 0 as s32";
}

TEST_F(Losses, allow_classes_that_are_impossible) {
  const double never = -std::numeric_limits<double>::infinity();
  const Tensor logits = tensor({{0.0, never, 0.0}});
  const auto by_index = [](const Tensor& x) { return sum(classes_loss(tensor({2}), x)); };
  const auto by_row = [](const Tensor& x) {
    return sum(classes_loss(tensor({{0.0, 0.0, 1.0}}), x));
  };
  expect_near(by_index(logits), {std::log(2)});
  expect_near(by_row(logits), {std::log(2)});
  expect_near(grad(by_index)(logits), {0.5, 0, -0.5});
  expect_near(grad(by_row)(logits), {0.5, 0, -0.5});
}

TEST_F(Losses, of_an_impossible_probability_are_bounded) {
  expect_near(loss("categorical_cross_entropy").of(tensor({1}), tensor({{1.0, 0.0}})),
              {-std::log(1e-7)}, 1e-5);
  expect_near(loss("binary_cross_entropy").of(ones({1, 1}), zeros({1, 1})), {-std::log(1e-7)},
              1e-5);
}

TEST_F(Losses, rank_pairs) {
  const Tensor first = tensor({2.0, 2.0, 1.0});
  const Tensor second = tensor({1.0, 1.0, 1.0});
  const Tensor t = tensor({1.0, -1.0, 1.0});
  expect_values<float>(losses::margin_ranking(t, first, second), {3}, {0, 1, 0});
  expect_values<float>(losses::margin_ranking(t, first, second, 1.5), {3}, {0.5, 2.5, 1.5});
  const Tensor pairs = stack({first, second}, -1);
  EXPECT_FLOAT_EQ(loss("margin_ranking(margin=1.5)").of(t, pairs).item<float>(), 1.5);
}

// What is refused ------------------------------------------------------------------------------------

TEST_F(Losses, refuse_shapes_that_differ) {
  const Error error = error_of([] {
    return losses::mean_squared_error(zeros({2, 3}), zeros({3, 2}));
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.reason(), "target and prediction differ: [2,3] and [3,2]");
  EXPECT_EQ(code_of([] { return losses::hinge(zeros({}), zeros({})); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { return losses::smoothed_labels(zeros({})); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { return losses::margin_ranking(zeros({2}), zeros({2}), zeros({1})); }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return loss("margin_ranking").of(zeros({2}), zeros({2, 3}));
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(Losses, refuse_targets_that_name_no_classes) {
  const Error shape = error_of([] { return classes_loss(tensor({1, 2, 3}), zeros({2, 4})); });
  EXPECT_EQ(shape.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(shape.reason(),
            "expected a target of shape [2,4], or indices of classes of shape [2], got [3]");
  const Error dtype = error_of([] { return classes_loss(zeros({2}), zeros({2, 4})); });
  EXPECT_EQ(dtype.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(dtype.reason(), "indices of classes: expected integers, got f32[2]");
  const Error weights = error_of([] {
    return classes_loss(tensor({0}), zeros({1, 4}), {.class_weights = ones({1})});
  });
  EXPECT_EQ(weights.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(weights.reason(), "class_weights and classes differ: [1] and [4]");
}

TEST_F(Losses, refuse_options_that_make_no_sense) {
  const Tensor x = zeros({1, 2});
  EXPECT_EQ(code_of([&] { return losses::huber(x, x, 0); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] { return losses::smoothed_labels(x, 1.5); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] { return losses::cosine_similarity(x, x, {.epsilon = 0}); }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] { return losses::cosine_similarity(x, x, {.axes = {2}}); }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] { return losses::mean_squared_error(x, as_type(x, DType::c64)); }),
            ErrorCode::dtype_mismatch);
}

TEST_F(Losses, refuse_an_epsilon_of_0_where_they_are_made) {
  for (const char* const text : {"huber(delta=0)", "cosine_similarity(eps=0)"})
    EXPECT_THROW((void)loss(text), Error) << text;
}

/// As its description says: one that is right beside what is below 0 is not worth more.
TEST_F(Losses, of_hinges_count_other_classes_as_0_at_least) {
  const Tensor target = tensor({{1.0, 0.0}});
  const Tensor prediction = tensor({{-1.0, -5.0}});
  EXPECT_EQ(loss("categorical_hinge").of(target, prediction).item<float>(), 2);
}

TEST_F(Losses, are_known_by_name) {
  for (const NamedKind& kind : loss_kinds()) EXPECT_EQ(loss(kind.name).text, kind.name);
  EXPECT_EQ(loss("huber(delta=2)").text, "huber(delta=2)");
  EXPECT_EQ(loss(losses::Huber{.delta = 0.5}).text, "huber(delta=0.5)");
  EXPECT_EQ(code_of([] { return loss(losses::Mse{.reduction = losses::Reduction::none}); }),
            ErrorCode::invalid_parameter);
  const Error unknown = error_of([] { return loss("mean_squared_eror"); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_EQ(unknown.reason(),
            "there is no loss 'mean_squared_eror'; did you mean 'mean_squared_error'?");
  for (const char* text : {"mse(delta=1)", "mse(reduction=none)", "huber(delta=0)",
                           "huber(delta=-1)", "cross_entropy(label_smoothing=2)"})
    EXPECT_EQ(code_of([&] { return loss(text); }), ErrorCode::invalid_parameter) << text;
}

}  // namespace
}  // namespace stoker::nn
