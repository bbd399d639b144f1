// How a model is trained, and functions that make losses, optimizer and loss scale from the
// options.
//
// Values and pure functions; any thread. Errors are thrown: those of loss(), optimizer() and
// loss_scale(); invalid_parameter for a learning rate together with a schedule and for negative
// checkpoints.
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
  /// Gradient checkpointing: above 0, the forward pass is divided into this many pieces. Only
  /// values passed between pieces are kept for the gradients; the rest is recomputed. See
  /// Model::step_memory().
  std::int64_t checkpoints = 0;
  std::optional<Device> device = {};  ///< current_device() if none is given
  std::uint64_t seed = 0;
};

/// One loss for each output: options.losses if given, else options.loss for all.
[[nodiscard]] std::vector<Loss> losses_of(const ModelOptions& options, std::size_t outputs);
[[nodiscard]] Optimizer optimizer_of(const ModelOptions& options);
/// The loss scale of the options, or the precision's default if they name none.
[[nodiscard]] LossScaleName loss_scale_of(const ModelOptions& options, const Precision& precision);
[[nodiscard]] StepOptions step_options_of(const ModelOptions& options, const Precision& precision);

}  // namespace stoker::nn
