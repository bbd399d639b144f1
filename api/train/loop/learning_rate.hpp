// The current learning rate as a number, for callbacks that log it or act on it.
//
//     [](const EpochMetrics& metrics, Training& training) {
//       std::cout << metrics.epoch << ": " << learning_rate(training.model()) << '\n';
//     }
//
// It is what the next update multiplies by: the schedule's value at the optimizer's step if there is a
// schedule, else the rate of the options or the optimizer's own; times Model::learning_rate_scale(). With
// accumulated gradients a schedule counts updates, as training does.
//
// Threads: any but a host's event loop: learning_rate() waits for the steps that were started. Errors are
// thrown: what the schedule throws; device_lost.
#pragma once

#include "stoker/api/train/model/model.hpp"

namespace stoker::nn {

[[nodiscard]] double learning_rate(const Model& model);

/// The rate of an optimizer without a schedule: of its options, else its own. Throws as optimizer() does.
[[nodiscard]] double own_learning_rate(const OptimizerName& optimizer);

}  // namespace stoker::nn
