// How a model is trained, and what the options come to: losses, an optimizer, how losses are scaled.
//
// Values and pure functions; any thread. Errors are thrown: what names of losses, optimizers and loss
// scales throw; invalid_parameter for a learning rate beside a schedule and for less than no checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/api/nn/functional/loss.hpp"
#include "stoker/api/train/model/precision.hpp"
#include "stoker/api/train/model/training_step.hpp"
#include "stoker/api/train/optim/loss_scale.hpp"
#include "stoker/api/train/optim/optimizer.hpp"

namespace stoker::nn {

struct ModelOptions {
  std::vector<LossName> losses = {};       ///< one for each output; instead of `loss`
  LossName loss = losses::CrossEntropy{};  ///< of every output
  OptimizerName optimizer = optimizers::Adam{};
  std::optional<double> learning_rate = {};  ///< instead of the optimizer's own
  std::int64_t accumulate_gradients = 1;
  double weight_decay = 0;
  std::optional<double> clip_norm = {};
  std::optional<double> clip_value = {};
  Schedule schedule = {};                        ///< of the learning rate, by steps
  std::vector<double> loss_weights = {};         ///< one for each output, times its loss; none: 1
  PrecisionName precision = precisions::Full{};  ///< see precision.hpp
  LossScaleName loss_scale = {};  ///< see loss_scale.hpp; none: Dynamic computing in f16
  /// Above 0: the forward pass of a step is cut into so many pieces, of which only what one hands to
  /// the next is kept for the gradients; the rest is computed once more. See Model::step_memory().
  std::int64_t checkpoints = 0;
  std::optional<Device> device = {};  ///< current_device() if none is given
  std::uint64_t seed = 0;
};

/// One loss for each of so many outputs, unless the options list others.
[[nodiscard]] std::vector<Loss> losses_of(const ModelOptions& options, std::size_t outputs);
[[nodiscard]] Optimizer optimizer_of(const ModelOptions& options);
/// As the options say it; where they leave it open, as it suits the precision.
[[nodiscard]] LossScaleName loss_scale_of(const ModelOptions& options, const Precision& precision);
[[nodiscard]] StepOptions step_options_of(const ModelOptions& options, const Precision& precision);

}  // namespace stoker::nn
