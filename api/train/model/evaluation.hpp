// What a model is worth on a data set: its mean loss and metrics.
//
// Threads: any. Waits. Errors are thrown: what steps, networks and metrics throw; the cause if limits end it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stoker/api/data/loader.hpp"
#include "stoker/api/nn/functional/metric.hpp"
#include "stoker/api/train/model/inference.hpp"
#include "stoker/api/train/model/training_step.hpp"

namespace stoker::nn {

/// What evaluate() finds.
struct Evaluation {
  double loss = 0;
  std::map<std::string, double> metrics;  ///< by what they were asked for as
};

/// The mean loss over all rows, in inference mode, `batch_size` at a time, and metrics of the first output,
/// which are those of all rows at once. On current_device().
[[nodiscard]] Evaluation evaluate(const TrainingStep& step, const Inference& inference,
                                  const Variables& variables, const Dataset& data,
                                  const std::vector<MetricName>& metrics, std::int64_t batch_size,
                                  const CommandOptions& limits);

}  // namespace stoker::nn
