// Optimizers: updates composed as the papers say, with the learning rate in them.
//
//     Optimizer adam = optimizer(optimizers::Adam{.learning_rate = 0.01});
//     Slots slots = adam.update.init(parameters);
//     auto step = jit([&](const Parameters& p, const Slots& s, const Tensor& x, const Tensor& y) {
//       return take_step(adam.update, grad(loss)(p, x, y), s, p);
//     });
//     auto [next, next_slots] = step(parameters, slots, x, y);
//
// Those that there are stand in optimizers.hpp.
//
// Every optimizer has the slot "learning_rate_scale", a scalar f32 that is 1 at first and that the
// learning rate is multiplied by. It is an argument of a traced step, not part of its program:
// whoever lowers the learning rate between two steps changes it, and nothing is traced again.
//
// Values and pure functions; any thread. Errors are thrown: not_found for a name, invalid_parameter
// for options, and what updates throw, with the optimizer's name as their op.
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
  std::string text;  ///< what it was made from: "adam(b1=0.8)"
  Update update;
};

/// A schedule that is given replaces the learning_rate of the options.
[[nodiscard]] Optimizer optimizer(const OptimizerName& wanted, Schedule learning_rate = {});
/// All, in the order of the table.
[[nodiscard]] std::vector<NamedKind> optimizer_kinds();

/// What is done to gradients before the optimizer, in this order.
struct TrainingOptions {
  std::int64_t accumulate_gradients = 1;  ///< the mean of so many steps is one
  double weight_decay = 0;                ///< times the parameter is added
  std::optional<double> clip_norm = {};   ///< of all: times clip_norm/(norm + 1e-8) if above
  std::optional<double> clip_value = {};  ///< of each element
  Schedule schedule = {};                 ///< of the learning rate, by steps of the optimizer
};
/// Throws invalid_parameter, as an error of `op`.
void check(std::string_view op, const TrainingOptions& options);
[[nodiscard]] Optimizer training_optimizer(const OptimizerName& wanted,
                                           const TrainingOptions& options);

/// What the learning rate is multiplied by now, and the slots with another such number. Throw
/// not_found if there is no such slot; invalid_parameter unless the number is at least 0.
[[nodiscard]] Tensor learning_rate_scale(const Slots& slots);
[[nodiscard]] Slots with_learning_rate_scale(Slots slots, double scale);

}  // namespace stoker::nn
