// Metrics of a batch counted by hand, and of many batches.
#include "stoker/api/nn/functional/metric.hpp"

#include <limits>

#include "stoker/api/nn/functional/metrics.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using Metrics = Tensors;
using MetricsOnDevices = TensorsOnDevices;
INSTANTIATE_TEST_SUITE_P(Devices, MetricsOnDevices, every_device(), device_name);

/// Three of four rows are right.
Tensor scores() {
  return tensor({{1.0, 3.0, 2.0}, {5.0, 4.0, 0.0}, {0.0, 0.1, 0.2}, {1.0, 0.0, 0.0}});
}
Tensor index() { return tensor({1, 0, 0, 0}); }
Tensor one_hot() { return tensor({{0, 1, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}}); }

double value(const char* name, const Tensor& target, const Tensor& prediction) {
  return metric(name).of(target, prediction).item<float>();
}

TEST_F(Metrics, of_classes_count_rows_whose_largest_is_right) {
  EXPECT_EQ(value("accuracy", index(), scores()), 0.75);
  EXPECT_EQ(value("accuracy", reshape(index(), {4, 1}), scores()), 0.75);
  EXPECT_EQ(value("accuracy", one_hot(), scores()), 0.75);
  EXPECT_EQ(value("accuracy", as_type(one_hot(), DType::f32), scores()), 0.75);
  EXPECT_EQ(value("accuracy", as_type(index(), DType::u8), as_type(scores(), DType::f16)), 0.75);
  const auto [part, whole] = metrics::accuracy(index(), scores());
  EXPECT_EQ(part.item<std::uint32_t>(), 3u);
  EXPECT_EQ(whole.item<std::uint32_t>(), 4u);
}

TEST_F(Metrics, of_classes_count_rows_of_any_rank) {
  EXPECT_EQ(value("accuracy", reshape(index(), {2, 2}), reshape(scores(), {2, 2, 3})), 0.75);
}

TEST_F(Metrics, never_take_an_index_that_is_no_class_for_right) {
  const Tensor wrong = tensor({-1, 3, 3, 99});
  EXPECT_EQ(value("accuracy", wrong, scores()), 0);
  EXPECT_EQ(value("top_k_categorical_accuracy(k=3)", wrong, scores()), 0);
}

TEST_F(Metrics, of_yes_and_no_compare_with_a_half) {
  const Tensor p = tensor({{0.9}, {0.5}, {0.6}, {0.1}});
  const Tensor t = tensor({{1.0}, {1.0}, {0.0}, {0.0}});
  EXPECT_EQ(value("accuracy", t, p), 0.5) << "0.5 is not above 0.5";
  EXPECT_EQ(value("accuracy", tensor({1, 1, 0, 0}), p), 0.5);
  EXPECT_EQ(value("accuracy", t, reshape(p, {4})), 0.5);
  EXPECT_EQ(value("accuracy(from_logits=true)", t, p - 0.55), 0.5);
  EXPECT_EQ(value("accuracy(from_logits=true)", t, p - 0.25), 0.75);
}

TEST_F(Metrics, count_answers_right_and_wrong) {
  const Tensor t = tensor({1, 1, 1, 0, 0, 0, 0});
  const Tensor p = tensor({0.9, 0.8, 0.2, 0.7, 0.1, 0.2, 0.3});
  EXPECT_EQ(metrics::true_positives(t, p).item<std::uint32_t>(), 2u);
  EXPECT_EQ(metrics::false_negatives(t, p).item<std::uint32_t>(), 1u);
  EXPECT_EQ(metrics::false_positives(t, p).item<std::uint32_t>(), 1u);
  EXPECT_EQ(metrics::true_negatives(t, p).item<std::uint32_t>(), 3u);
  EXPECT_EQ(value("true_positives(threshold=0.85)", t, p), 1);
  EXPECT_EQ(value("false_positives(threshold=0.15)", t, p), 3);
  EXPECT_EQ(value("false_negatives(threshold=0.95)", t, p), 3);
  EXPECT_EQ(value("true_negatives(threshold=0)", t, p), 0);
}

TEST_F(Metrics, are_shares_of_answers) {
  const Tensor t = tensor({1, 1, 1, 0, 0, 0, 0});
  const Tensor p = tensor({0.9, 0.8, 0.2, 0.7, 0.1, 0.2, 0.3});
  EXPECT_FLOAT_EQ(value("precision", t, p), 2.0 / 3);
  EXPECT_FLOAT_EQ(value("recall", t, p), 2.0 / 3);
  EXPECT_FLOAT_EQ(value("sensitivity", t, p), 2.0 / 3);
  EXPECT_FLOAT_EQ(value("specificity", t, p), 3.0 / 4);
  EXPECT_FLOAT_EQ(value("precision(threshold=0.15)", t, p), 3.0 / 6);
  EXPECT_FLOAT_EQ(value("recall(threshold=0.85)", t, p), 1.0 / 3);
  EXPECT_FLOAT_EQ(value("specificity(threshold=0.15)", t, p), 1.0 / 4);
}

TEST_F(Metrics, of_nothing_are_0) {
  const Tensor no = zeros({3});
  const Tensor yes = ones({3});
  EXPECT_EQ(value("precision", yes, no), 0);
  EXPECT_EQ(value("recall", no, yes), 0);
  EXPECT_EQ(value("specificity", yes, yes), 0);
  const Metric precision = metric("precision");
  EXPECT_EQ(precision.value(std::vector<double>{0, 0}), 0);
  EXPECT_EQ(MetricTotal{precision}.value(), 0);
}

TEST_F(Metrics, accept_any_of_the_first_k) {
  const Tensor p = tensor({{0.1, 0.4, 0.3, 0.2}, {0.1, 0.4, 0.3, 0.2}, {0.1, 0.4, 0.3, 0.2}});
  const Tensor t = tensor({1, 3, 0});
  EXPECT_FLOAT_EQ(value("top_k_categorical_accuracy(k=1)", t, p), 1.0 / 3);
  EXPECT_FLOAT_EQ(value("top_k_categorical_accuracy(k=2)", t, p), 1.0 / 3);
  EXPECT_FLOAT_EQ(value("top_k_categorical_accuracy(k=3)", t, p), 2.0 / 3);
  EXPECT_FLOAT_EQ(value("top_k_categorical_accuracy(k=4)", t, p), 1);
  const Tensor rows = tensor({{0, 1, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}});
  EXPECT_FLOAT_EQ(value("top_k_categorical_accuracy(k=3)", rows, p), 2.0 / 3);
  EXPECT_FLOAT_EQ(value("top_k_categorical_accuracy(k=1)", tensor({2}), ones({1, 3})), 1)
      << "equals share the better place";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(value("top_k_categorical_accuracy(k=2)", tensor({0}), tensor({{nan, nan, nan}})), 0);
}

TEST_F(Metrics, measure_distances) {
  const Tensor t = tensor({{0.0, 1.0}, {0.0, 0.0}});
  const Tensor p = tensor({{1.0, 1.0}, {3.0, 0.0}});
  EXPECT_EQ(value("mean_absolute_error", t, p), 1);
  const Tensor far = metrics::mean_absolute_error(zeros({2}), full({2}, 3e4, DType::f16)).value();
  EXPECT_EQ(far.item<float>(), 3e4f) << "6e4 + 6e4 is no f16";
}

/// The sums over batches of 3 rows and of 1, each traced.
double over_batches(const char* name, const Tensor& target, const Tensor& prediction) {
  const Metric of = metric(name);
  const auto counts = jit(of.counts);
  MetricTotal total{of};
  for (const auto& [from, rows] : {std::pair{0, 3}, std::pair{3, 1}}) {
    std::vector<double> batch;
    for (const Tensor& one :
         counts(slice_along_axis(target, from, rows), slice_along_axis(prediction, from, rows)))
      batch.push_back(one.item<double>());
    total.add(batch);
  }
  return total.value();
}

TEST_P(MetricsOnDevices, over_batches_are_those_of_all_rows) {
  const Tensor t = tensor({{1, 0}, {1, 1}, {1, 0}, {0, 0}});
  const Tensor p = tensor({{0.9, 0.1}, {0.8, 0.7}, {0.9, 0.6}, {0.7, 0.2}});
  for (const NamedKind& kind : metric_kinds()) {
    const std::string& name = kind.name;
    SCOPED_TRACE(name);
    const std::string text = name == "top_k_categorical_accuracy" ? name + "(k=1)" : name;
    EXPECT_NEAR(over_batches(text.c_str(), t, p), value(text.c_str(), t, p), 1e-6);
  }
  EXPECT_NEAR(over_batches("precision", t, p), 4.0 / 6, 1e-12) << "of batches 4/5 and 0/1";
  EXPECT_NEAR(over_batches("accuracy", index(), scores()), 3.0 / 4, 1e-12);
}

TEST_F(Metrics, over_batches_may_be_means_and_sums_of_their_values) {
  EXPECT_NEAR(over_batches("accuracy(accumulate=running_average)", index(), scores()),
              (2.0 / 3 + 1) / 2, 1e-6);
  EXPECT_NEAR(over_batches("accuracy(accumulate=running_sum)", index(), scores()), 2.0 / 3 + 1,
              1e-6);
  const Metric half = running_average(metric("precision(threshold=0.5)"));
  EXPECT_EQ(half.text, "precision(threshold=0.5)");
  EXPECT_EQ(half.counts(tensor({1}), tensor({1.0})).size(), 2u);
}

TEST_F(Metrics, are_known_by_name) {
  EXPECT_EQ(metric_kinds().size(), 11u);
  for (const NamedKind& kind : metric_kinds()) EXPECT_EQ(metric(kind.name).text, kind.name);
  EXPECT_EQ(metric(metrics::Precision{.threshold = 0.7}).text, "precision(threshold=0.7)");
  const Error unknown = error_of([] { return metric("acuracy"); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_EQ(unknown.reason(), "there is no metric 'acuracy'; did you mean 'accuracy'?");
  for (const char* text : {"accuracy(k=1)", "top_k_categorical_accuracy(k=0)",
                           "recall(accumulate=mean)", "precision(threshold=high)"})
    EXPECT_EQ(code_of([&] { return metric(text); }), ErrorCode::invalid_parameter) << text;
}

TEST_F(Metrics, refuse_what_does_not_fit) {
  const Error shapes = error_of([] { return metrics::recall(zeros({2, 3}), zeros({3})).part; });
  EXPECT_EQ(shapes.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(shapes.reason(), "target and prediction differ: [2,3] and [3]");
  EXPECT_EQ(code_of([] {
              return metrics::accuracy(tensor({1, 2, 3}), zeros({2, 4})).part;
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return metrics::accuracy(zeros({2}), zeros({2, 4})).part;
            }),
            ErrorCode::dtype_mismatch);
  const Error many = error_of([] {
    return metrics::top_k_categorical_accuracy(tensor({0}), zeros({1, 3})).part;
  });
  EXPECT_EQ(many.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(many.reason(), "k: expected 1 to the 3 classes, got 5");
  MetricTotal total{metric("recall")};
  total.add(std::vector<double>{1, 2});
  EXPECT_EQ(error_of([&] {
              total.add(std::vector<double>{1});
              return 0;
            }).reason(),
            "counts of a batch: expected 2, got 1");
}

}  // namespace
}  // namespace stoker::nn
