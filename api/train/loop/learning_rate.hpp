// The current learning rate as a number, for callbacks that log it or act on it.
//
//     [](const EpochMetrics& metrics, Training& training) {
//       std::cout << metrics.epoch << ": " << learning_rate(training.model()) << '\n';
//     }
//
// This is the factor of the next update: Model::learning_rate_scale() times the schedule's value at the
// optimizer's step. Without a schedule, the rate of the options or the optimizer's own takes its place.
// With accumulated gradients a schedule counts updates, as training does.
//
// Threads: any but a host's event loop: learning_rate() waits for the steps that were started. Errors are
// thrown: those of the schedule; device_lost.
#pragma once

#include "stoker/api/train/model/model.hpp"

namespace stoker::nn {

[[nodiscard]] double learning_rate(const Model& model);

/// The rate of an optimizer without a schedule: that of its options, otherwise the default. Throws the
/// errors of optimizer().
[[nodiscard]] double own_learning_rate(const OptimizerName& optimizer);

}  // namespace stoker::nn
