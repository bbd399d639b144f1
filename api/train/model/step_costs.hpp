// The cost of a training step and of a prediction, in bytes and milliseconds.
//
// Threads: any. Tensors live on current_device(). Errors are thrown: those of steps; invalid_argument
// for less than one run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/api/train/model/training_step.hpp"

namespace stoker::nn {

/// The time of one call, in milliseconds.
struct Timing {
  double average = 0, least = 0, most = 0, median = 0, deviation = 0;
  int runs = 0;
};

/// Device memory of one step, in bytes.
struct StepMemory {
  std::uint64_t working = 0;  ///< what the step's program needs while it runs
  std::uint64_t batch = 0;
  std::uint64_t variables = 0;
  std::uint64_t optimizer = 0;
  /// Includes the new variables and slots, which exist beside the old ones.
  [[nodiscard]] std::uint64_t peak() const noexcept {
    return working + batch + 2 * (variables + optimizer);
  }
};

/// The time of one step, in milliseconds; each part is run and measured alone.
struct StepProfile {
  double forward = 0, backward = 0, optimizer = 0, total = 0;
  double loss = 0;
  StepMemory memory = {};
};

/// The device memory of a step on such a batch; runs nothing.
[[nodiscard]] StepMemory step_memory(const TrainingStep& step, const TrainingState& state,
                                     const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& targets);
/// Blocks. Measures the parts of a step separately; does not change the state.
[[nodiscard]] StepProfile profile_step(const TrainingStep& step, const TrainingState& state,
                                       const std::vector<Tensor>& inputs,
                                       const std::vector<Tensor>& targets, int runs);
/// Blocks. Measures the time until the tensors that `run` returns are computed.
[[nodiscard]] Timing time_of(const std::function<std::vector<Tensor>()>& run, int warmup, int runs);

}  // namespace stoker::nn
