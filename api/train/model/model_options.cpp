#include "stoker/api/train/model/model_options.hpp"

namespace stoker::nn {

std::vector<Loss> losses_of(const ModelOptions& options, std::size_t outputs) {
  std::vector<Loss> made;
  for (const LossName& one : options.losses) made.push_back(loss(one));
  if (made.empty()) made.assign(outputs, loss(options.loss));
  return made;
}

LossScaleName loss_scale_of(const ModelOptions& options, const Precision& precision) {
  if (!options.loss_scale.empty()) return options.loss_scale;
  if (precision.compute == DType::f16) return loss_scales::Dynamic{};
  return loss_scales::Identity{};
}

Optimizer optimizer_of(const ModelOptions& options) {
  OptimizerName wanted = options.optimizer;
  if (options.schedule && (options.learning_rate || wanted.options.find("learning_rate")))
    throw Error{
        "model",
        ErrorCode::invalid_parameter,
        "learning_rate: expected none beside a schedule, which says what it is at each step",
        {{"parameter", "learning_rate"}}};
  if (options.learning_rate) wanted.options.set("learning_rate", *options.learning_rate);
  const TrainingOptions training{.accumulate_gradients = options.accumulate_gradients,
                                 .weight_decay = options.weight_decay,
                                 .clip_norm = options.clip_norm,
                                 .clip_value = options.clip_value,
                                 .schedule = options.schedule};
  check("model", training);
  return training_optimizer(wanted, training);
}

StepOptions step_options_of(const ModelOptions& options, const Precision& precision) {
  if (options.checkpoints < 0)
    throw Error{"model",
                ErrorCode::invalid_parameter,
                "checkpoints: expected 0 or more, got " + std::to_string(options.checkpoints),
                {{"parameter", "checkpoints"}}};
  return {.loss_weights = options.loss_weights,
          .loss_scale = loss_scale_of(options, precision),
          .pieces = static_cast<std::size_t>(options.checkpoints)};
}

}  // namespace stoker::nn
