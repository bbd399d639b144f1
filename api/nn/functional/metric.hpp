// Metrics, chosen as options, and their totals over many batches.
//
//     Metric accuracy = metric(metrics::Accuracy{});
//     MetricTotal total{accuracy};
//     for (…) total.add(values of accuracy.counts(target, prediction));
//     double share = total.value();
//
// Each is a function of metrics.hpp with its options; as text: "precision(threshold=0.7)". By
// default its counts are summed over batches, so the value is exact whatever the batch sizes:
// precision is computed from all TP and FP. Accumulate::running_average takes the mean of the
// batches' values instead, running_sum their sum.
//
// Threads: a MetricTotal belongs to one thread at a time; all else may be used from any thread.
// Errors are thrown: not_found for an unknown name, invalid_parameter for options out of range;
// calling a metric throws the errors that metrics.hpp lists.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/choice.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

struct Metric {
  std::string text;  ///< the text it was made from
  /// The metric of one batch: a scalar float.
  std::function<Tensor(const Tensor& target, const Tensor& prediction)> of;
  /// The scalars that are summed over batches; their number is constant.
  std::function<std::vector<Tensor>(const Tensor& target, const Tensor& prediction)> counts;
  /// The metric's value for these sums.
  std::function<double(std::span<const double> sums)> value;
};

using MetricName = Choice<struct MetricFamily>;
[[nodiscard]] Metric metric(const MetricName& wanted);
/// All metrics, sorted by name.
[[nodiscard]] std::vector<NamedKind> metric_kinds();

/// The unweighted mean of the batches' values, and their sum.
[[nodiscard]] Metric running_average(const Metric& of);
[[nodiscard]] Metric running_sum(const Metric& of);

/// A metric's running sums over batches.
class MetricTotal {
 public:
  explicit MetricTotal(Metric metric) : metric_{std::move(metric)} {}

  /// Adds the values of counts() for one batch. Throws invalid_argument if their number differs
  /// from before.
  void add(std::span<const double> counts);
  /// The metric over all batches so far; 0 before the first.
  [[nodiscard]] double value() const;
  [[nodiscard]] const Metric& metric() const noexcept { return metric_; }

 private:
  Metric metric_;
  std::vector<double> sums_;
};

namespace metrics {

/// How a metric is accumulated over batches.
enum class Accumulate : std::uint8_t { exact, running_average, running_sum };

template <class O, class V> void visit_accumulate(O& o, V&& visit) {
  visit("accumulate", o.accumulate,
        one_of<Accumulate>({{"exact", Accumulate::exact},
                            {"running_average", Accumulate::running_average},
                            {"running_sum", Accumulate::running_sum}}),
        "how the values of batches are combined");
}

struct Accuracy {
  using Family = MetricName;
  static constexpr const char* kind = "accuracy";
  bool from_logits = false;
  Accumulate accumulate = Accumulate::exact;
};
template <class V> void visit_options(Accuracy& o, V&& visit) {
  visit("from_logits", o.from_logits, anything,
        "predictions are logits: those above 0, instead of 0.5, are positive");
  visit_accumulate(o, visit);
}

struct TopKCategoricalAccuracy {
  using Family = MetricName;
  static constexpr const char* kind = "top_k_categorical_accuracy";
  std::int64_t k = 5;
  Accumulate accumulate = Accumulate::exact;
};
template <class V> void visit_options(TopKCategoricalAccuracy& o, V&& visit) {
  visit("k", o.k, at_least(1), "number of classes that count as predicted");
  visit_accumulate(o, visit);
}

struct MeanAbsoluteError {
  using Family = MetricName;
  static constexpr const char* kind = "mean_absolute_error";
  Accumulate accumulate = Accumulate::exact;
};
template <class V> void visit_options(MeanAbsoluteError& o, V&& visit) {
  visit_accumulate(o, visit);
}

/// Metrics of binary predictions.
template <KindName Kind> struct MetricOf {
  using Family = MetricName;
  static constexpr const char* kind = Kind.text;
  double threshold = 0.5;
  Accumulate accumulate = Accumulate::exact;
};
template <KindName Kind, class V> void visit_options(MetricOf<Kind>& o, V&& visit) {
  visit("threshold", o.threshold, anything, "predictions above it are positive");
  visit_accumulate(o, visit);
}
using FalseNegatives = MetricOf<"false_negatives">;
using FalsePositives = MetricOf<"false_positives">;
using TrueNegatives = MetricOf<"true_negatives">;
using TruePositives = MetricOf<"true_positives">;
using Precision = MetricOf<"precision">;
using Recall = MetricOf<"recall">;
using Sensitivity = MetricOf<"sensitivity">;
using Specificity = MetricOf<"specificity">;

}  // namespace metrics

}  // namespace stoker::nn
