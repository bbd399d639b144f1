#include "stoker/api/train/model/evaluation.hpp"

#include "stoker/api/nn/graph/errors_as.hpp"

namespace stoker::nn {

Evaluation evaluate(const TrainingStep& step, const Inference& inference,
                    const Variables& variables, const Dataset& data,
                    const std::vector<MetricName>& metrics, std::int64_t batch_size,
                    const CommandOptions& limits) {
  std::vector<MetricTotal> totals;
  for (const MetricName& one : metrics) totals.emplace_back(metric(one));
  // Of one batch: the loss, then the counts of each metric.
  struct Found {
    std::vector<Tensor> values;
    std::vector<std::size_t> counts;
    std::int64_t rows;
  };
  const Loader loader = errors_as("evaluate", [&] {
    return Loader{data, {.batch_size = batch_size, .shuffle = false, .seed = 0}};
  });
  std::vector<Found> parts;
  for (const Batch& batch : loader.epoch(0)) {
    limits.cancel.check();
    Found part{{step.loss(variables, batch.inputs, batch.targets, limits)}, {}, batch.rows};
    if (!totals.empty()) {
      const Tensor prediction = inference.apply(variables, batch.inputs)[0];
      for (const MetricTotal& total : totals) {
        const auto counts = total.metric().counts(batch.targets[0], prediction);
        part.counts.push_back(counts.size());
        part.values.insert(part.values.end(), counts.begin(), counts.end());
      }
    }
    eval(part.values, limits);
    parts.push_back(std::move(part));
  }
  Evaluation found;
  for (const Found& part : parts) {
    found.loss += part.values[0].item<double>(limits) * static_cast<double>(part.rows);
    std::size_t at = 1;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      std::vector<double> counts;
      for (std::size_t k = 0; k < part.counts[i]; ++k)
        counts.push_back(part.values[at++].item<double>(limits));
      totals[i].add(counts);
    }
  }
  found.loss /= static_cast<double>(data.size());
  for (std::size_t i = 0; i < totals.size(); ++i)
    found.metrics.emplace(metrics[i].text(), totals[i].value());
  return found;
}

}  // namespace stoker::nn
