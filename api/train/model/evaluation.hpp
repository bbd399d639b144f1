// Evaluates a model on a dataset: mean loss and metrics.
//
// Threads: any. Blocks. Errors are thrown: those of steps, networks and metrics; the cause if
// limits are exceeded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stoker/api/data/loader.hpp"
#include "stoker/api/nn/functional/metric.hpp"
#include "stoker/api/train/model/inference.hpp"
#include "stoker/api/train/model/training_step.hpp"

namespace stoker::nn {

/// The result of evaluate().
struct Evaluation {
  double loss = 0;
  std::map<std::string, double> metrics;  ///< by the text that requested them
};

/// The mean loss over all rows, in inference mode, `batch_size` rows at a time, and the exact
/// metrics of the first output over all rows. Runs on current_device().
[[nodiscard]] Evaluation evaluate(const TrainingStep& step, const Inference& inference,
                                  const Variables& variables, const Dataset& data,
                                  const std::vector<MetricName>& metrics, std::int64_t batch_size,
                                  const CommandOptions& limits);

}  // namespace stoker::nn
