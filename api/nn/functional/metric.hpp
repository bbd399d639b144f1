// Metrics by name, and what they come to over many batches: "accuracy", "precision(threshold=0.7)".
//
//     Metric accuracy = metric("accuracy");
//     MetricTotal total{accuracy};
//     for (…) total.add(values of accuracy.counts(target, prediction));
//     double share = total.value();
//
// The names are those of metrics.hpp, with its options. What is added up over batches is what each counts,
// so that the value is that of all rows at once, whatever the sizes of batches: precision comes from all
// TP and FP. With accumulate="running_average" it is the mean of the values of batches instead, with
// accumulate="running_sum" their sum.
//
// Values; a MetricTotal belongs to one thread at a time, all else is for any. Errors are thrown:
// not_found for a name, invalid_parameter for options, and when it is called what metrics.hpp says.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

struct Metric {
  std::string text;  ///< what it was made from
  /// Of one batch, a scalar float.
  std::function<Tensor(const Tensor& target, const Tensor& prediction)> of;
  /// What is added up over batches: scalars, always as many.
  std::function<std::vector<Tensor>(const Tensor& target, const Tensor& prediction)> counts;
  /// What their sums come to.
  std::function<double(std::span<const double> sums)> value;
};

[[nodiscard]] Metric metric(const Named& wanted);
[[nodiscard]] std::vector<std::string> metric_names();

/// The mean of the values of batches, each counting the same; their sum.
[[nodiscard]] Metric running_average(const Metric& of);
[[nodiscard]] Metric running_sum(const Metric& of);

/// The sums so far.
class MetricTotal {
 public:
  explicit MetricTotal(Metric metric) : metric_{std::move(metric)} {}

  /// The values of counts() of one batch. Throws invalid_argument if they are more or fewer than before.
  void add(std::span<const double> counts);
  /// 0 if there was nothing.
  [[nodiscard]] double value() const;
  [[nodiscard]] const Metric& metric() const noexcept { return metric_; }

 private:
  Metric metric_;
  std::vector<double> sums_;
};

}  // namespace stoker::nn
