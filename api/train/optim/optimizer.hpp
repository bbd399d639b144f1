// Optimizers by name: updates composed as the papers say, with the learning rate in them.
//
//     Optimizer adam = optimizer("adam(learning_rate=0.01)");
//     Slots slots = adam.update.init(parameters);
//     auto step = jit([&](const Parameters& p, const Slots& s, const Tensor& x, const Tensor& y) {
//       return take_step(adam.update, grad(loss)(p, x, y), s, p);
//     });
//     auto [next, next_slots] = step(parameters, slots, x, y);
//
// The names, with their options and defaults; the formulas are in updates.hpp.
//   sgd         learning_rate=0.01, momentum=0 (none), nesterov=false
//   adam        learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-8, eps_root=1e-15
//   adamw       adam's, with eps_root=0, decay=0: learning_rate·decay·p is taken off besides
//   adabelief   learning_rate=0.001, b1=0.9, b2=0.999, eps=0, eps_root=1e-16
//   adagrad     learning_rate=0.001, eps=1e-7, initial_accumulator_value=0.1
//   lamb        learning_rate=0.01, b1=0.9, b2=0.999, eps=1e-8, eps_root=0, decay=0, min_norm=0
//   noisy_sgd   learning_rate=0.01, eta=0.1, gamma=0.55, seed=0: noise after the learning rate
//   radam       learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-8, eps_root=0, threshold=5
//   rmsprop     learning_rate=0.01, centered=false, momentum=0 (none), nesterov=false,
//               initial_scale=0, decay=0.9, eps=1e-8: momentum after the learning rate
//   yogi        learning_rate=0.01, initial_accumulator_value=0, b1=0.9, b2=0.999, eps=1e-8,
//               eps_root=0
//
// Every optimizer has the slot "learning_rate_scale", a scalar f32 that is 1 at first and that the
// learning rate is multiplied by. It is an argument of a traced step, not part of its program:
// whoever lowers the learning rate between two steps changes it, and nothing is traced again.
//
// Values and pure functions; any thread. Errors are thrown: not_found for a name, invalid_parameter
// for options, and what updates throw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/train/optim/schedule.hpp"
#include "stoker/api/train/optim/update.hpp"

namespace stoker::nn {

struct Optimizer {
  std::string text;  ///< what it was made from: "adam(b1=0.8)"
  Update update;
};

/// By name. A schedule that is given replaces the learning_rate of the options.
[[nodiscard]] Optimizer optimizer(const Named& wanted, Schedule learning_rate = {});

/// What is done to gradients before the optimizer, in this order.
struct TrainingOptions {
  std::int64_t accumulate_gradients = 1;  ///< the mean of so many steps is one
  double weight_decay = 0;                ///< times the parameter is added
  std::optional<double> clip_norm = {};   ///< of all: times clip_norm/(norm + 1e-8) if above
  std::optional<double> clip_value = {};  ///< of each element
  Schedule schedule = {};                 ///< of the learning rate, by steps of the optimizer
};
[[nodiscard]] Optimizer training_optimizer(const Named& wanted, const TrainingOptions& options);

/// What the learning rate is multiplied by now, and the slots with another such number. Throw
/// not_found if there is no such slot; invalid_parameter unless the number is at least 0.
[[nodiscard]] Tensor learning_rate_scale(const Slots& slots);
[[nodiscard]] Slots with_learning_rate_scale(Slots slots, double scale);

}  // namespace stoker::nn
