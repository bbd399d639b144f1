#include "stoker/api/nn/functional/metric.hpp"

#include "stoker/api/nn/functional/metrics.hpp"
#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

using Table = NamedTable<Metric>;
using Share = std::function<metrics::Fraction(const Tensor& target, const Tensor& prediction)>;

Metric of_share(Share share) {
  Metric made;
  made.of = [share](const Tensor& t, const Tensor& p) { return share(t, p).value(); };
  made.counts = [share](const Tensor& t, const Tensor& p) {
    const auto [part, whole] = share(t, p);
    return std::vector{part, whole};
  };
  made.value = [](std::span<const double> sums) { return sums[1] == 0 ? 0.0 : sums[0] / sums[1]; };
  return made;
}

/// Of something whose sum over batches is its value.
Metric of_count(const std::function<Tensor(const Tensor&, const Tensor&)>& count) {
  Metric made;
  made.of = [count](const Tensor& t, const Tensor& p) { return as_type(count(t, p), DType::f32); };
  made.counts = [count](const Tensor& t, const Tensor& p) { return std::vector{count(t, p)}; };
  made.value = [](std::span<const double> sums) { return sums[0]; };
  return made;
}

template <class O> Table::Entry entry(const char* summary, std::function<Metric(const O&)> make) {
  return Table::entry<O>(summary, [make = std::move(make)](const O& options) {
    const Metric exact = make(options);
    switch (options.accumulate) {
      case metrics::Accumulate::running_average: return running_average(exact);
      case metrics::Accumulate::running_sum: return running_sum(exact);
      case metrics::Accumulate::exact: break;
    }
    return exact;
  });
}

template <class O>
Table::Entry share_entry(const char* summary,
                         metrics::Fraction (*share)(const Tensor&, const Tensor&, double)) {
  return entry<O>(summary, [share](const O& options) {
    return of_share([share, above = options.threshold](const Tensor& t, const Tensor& p) {
      return share(t, p, above);
    });
  });
}

template <class O>
Table::Entry count_entry(const char* summary,
                         Tensor (*count)(const Tensor&, const Tensor&, double)) {
  return entry<O>(summary, [count](const O& options) {
    return of_count([count, above = options.threshold](const Tensor& t, const Tensor& p) {
      return count(t, p, above);
    });
  });
}

Metric make_accuracy(const metrics::Accuracy& options) {
  return of_share([logits = options.from_logits](const Tensor& t, const Tensor& p) {
    return metrics::accuracy(t, p, logits);
  });
}

Metric make_error(const metrics::MeanAbsoluteError&) {
  return of_share(&metrics::mean_absolute_error);
}

Metric make_top_k(const metrics::TopKCategoricalAccuracy& options) {
  return of_share([k = options.k](const Tensor& t, const Tensor& p) {
    return metrics::top_k_categorical_accuracy(t, p, k);
  });
}

const Table& table() {
  static constinit NeverDestroyed<Table> all;
  return all.get([] {
    return Table{
        "metric",
        {
            entry<metrics::Accuracy>("the share of rows whose predicted class is right",
                                     &make_accuracy),
            count_entry<metrics::FalseNegatives>(
                "number of positives that were predicted to be negative",
                &metrics::false_negatives),
            count_entry<metrics::FalsePositives>(
                "number of negatives that were predicted to be positive",
                &metrics::false_positives),
            entry<metrics::MeanAbsoluteError>("the mean of |p - t| of all elements", &make_error),
            share_entry<metrics::Precision>(
                "TP / (TP + FP): the share of positive predictions that are right",
                &metrics::precision),
            share_entry<metrics::Recall>("TP / (TP + FN): the share of positives that were found",
                                         &metrics::recall),
            share_entry<metrics::Sensitivity>("recall", &metrics::sensitivity),
            share_entry<metrics::Specificity>(
                "TN / (TN + FP): the share of negatives that were found", &metrics::specificity),
            entry<metrics::TopKCategoricalAccuracy>(
                "the share of rows whose class is among the k with the largest predictions",
                &make_top_k),
            count_entry<metrics::TrueNegatives>(
                "number of negatives that were predicted to be negative", &metrics::true_negatives),
            count_entry<metrics::TruePositives>(
                "number of positives that were predicted to be positive", &metrics::true_positives),
        }};
  });
}

}  // namespace

Metric metric(const MetricName& wanted) {
  Metric made = table().make(wanted);
  made.text = wanted.text();
  return made;
}

std::vector<NamedKind> metric_kinds() { return table().kinds(); }

Metric running_average(const Metric& of) {
  Metric made = of_share([value = of.of](const Tensor& t, const Tensor& p) {
    return metrics::Fraction{value(t, p), full({}, 1, DType::u32)};
  });
  made.text = of.text;
  return made;
}

Metric running_sum(const Metric& of) {
  Metric made = of_count(of.of);
  made.text = of.text;
  return made;
}

void MetricTotal::add(std::span<const double> counts) {
  if (sums_.empty()) sums_.resize(counts.size());
  if (counts.size() != sums_.size())
    throw Error{"metric",
                ErrorCode::invalid_argument,
                "counts of a batch: expected " + std::to_string(sums_.size()) + ", got " +
                    std::to_string(counts.size()),
                {{"metric", metric_.text}}};
  for (std::size_t i = 0; i < counts.size(); ++i) sums_[i] += counts[i];
}

double MetricTotal::value() const { return sums_.empty() ? 0 : metric_.value(sums_); }

}  // namespace stoker::nn
