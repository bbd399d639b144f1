// Optimizers: updates composed as in the papers, including the learning rate.
//
//     Optimizer adam = optimizer(optimizers::Adam{.learning_rate = 0.01});
//     Slots slots = adam.update.init(parameters);
//     auto step = jit([&](const Parameters& p, const Slots& s, const Tensor& x, const Tensor& y) {
//       return take_step(adam.update, grad(loss)(p, x, y), s, p);
//     });
//     auto [next, next_slots] = step(parameters, slots, x, y);
//
// For the list of optimizers see optimizers.hpp.
//
// Every optimizer has the slot "learning_rate_scale", a scalar f32, initially 1, by which the
// learning rate is multiplied. It is an argument of a traced step, so changing it between steps
// needs no new trace.
//
// Values and pure functions; any thread. Errors are thrown: not_found for an unknown name,
// invalid_parameter for options out of range, and the errors of updates, with the optimizer's name
// as their op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/api/train/optim/optimizers.hpp"
#include "stoker/api/train/optim/schedule.hpp"
#include "stoker/api/train/optim/update.hpp"

namespace stoker::nn {

struct Optimizer {
  std::string text;  ///< the text it was made from: "adam(b1=0.8)"
  Update update;
};

/// A schedule, if given, replaces the learning_rate of the options.
[[nodiscard]] Optimizer optimizer(const OptimizerName& wanted, Schedule learning_rate = {});
/// All optimizers, in the order of the table.
[[nodiscard]] std::vector<NamedKind> optimizer_kinds();

/// Transformations of gradients before the optimizer, in this order.
struct TrainingOptions {
  std::int64_t accumulate_gradients = 1;  ///< steps whose mean gradient makes one step
  double weight_decay = 0;                ///< adds weight_decay · parameter
  std::optional<double> clip_norm = {};   ///< rescales to this global norm if exceeded
  std::optional<double> clip_value = {};  ///< clamps each element to ±clip_value
  Schedule schedule = {};                 ///< of the learning rate, by steps of the optimizer
};
/// Throws invalid_parameter, with `op` as the operation, for options out of range.
void check(std::string_view op, const TrainingOptions& options);
[[nodiscard]] Optimizer training_optimizer(const OptimizerName& wanted,
                                           const TrainingOptions& options);

/// Gets and sets the learning-rate scale. Throw not_found if there is no such slot;
/// invalid_parameter for a negative scale.
[[nodiscard]] Tensor learning_rate_scale(const Slots& slots);
[[nodiscard]] Slots with_learning_rate_scale(Slots slots, double scale);

}  // namespace stoker::nn
