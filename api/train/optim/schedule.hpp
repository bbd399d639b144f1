// Numbers that change as training goes on: learning rates.
//
//     Schedule rate = schedule("cosine_decay(value=0.1, decay_steps=1000)");
//     Schedule warm = schedules::warmup(100, 0.0, rate);
//     Tensor now = warm(step);                             // f32[]
//
// A schedule is a function of the step, a scalar s32 that is 0 at first; it gives a scalar f32. It
// is made of operations, so in a traced training step it becomes part of the program: the number
// changes from step to step, and nothing is traced again.
//
// schedule() knows these names; t is the step.
//   constant(value)                 value
//   linear_decay(value, warmup=0, steps=1000)
//                                   value·t/warmup, then value·(steps - t)/(steps - warmup), not
//                                   below 0
//   exponential_decay(value, decay_rate=0.95, transition_steps=10, transition_begin=0,
//                     staircase=false)
//                                   value·decay_rate^((t - begin)/transition_steps); staircase: the
//                                   exponent rounded down; before the beginning value
//   cosine_decay(value, decay_steps=10, alpha=0)
//                                   value·(½(1 + cos(π·min(t/decay_steps, 1))) + alpha)
//   polynomial_decay(value, end_value=1e-3, power=2, transition_steps=10, transition_begin=0)
//                                   (value - end)·(1 - (t - begin)/transition_steps)^power + end
//   warmup(steps, from=0, then)     see below; `then` is the text of a schedule
// and these by epoch, e = floor(t/steps_per_epoch), which is the step itself unless the option
// steps_per_epoch is given:
//   step(base, size, gamma)         base·gamma^floor(e/size)
//   exponential(base, gamma)        base·gamma^e
//   cosine(base, min=0, epochs)     min + ½(base - min)(1 + cos(π·e/(epochs - 1))), then min
//
// Formulas: Polaris (the first five), ExBurn (those by epoch); the cosine is SGDR's (Loshchilov and
// Hutter, arXiv:1608.03983).
//
// Pure functions; any thread. Errors are thrown: not_found for a name, invalid_parameter for
// options, invalid_argument for an empty schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

using Schedule = std::function<Tensor(const Tensor& step)>;

/// By name.
[[nodiscard]] Schedule schedule(const Named& wanted);
/// That number at every step.
[[nodiscard]] Schedule schedule(double value);

namespace schedules {

/// From `from` to the first value of `then` in a straight line over `steps` steps; then `then`,
/// which counts from 0.
[[nodiscard]] Schedule warmup(std::int64_t steps, double from, Schedule then);

/// A schedule and how many steps it lasts.
struct Phase {
  std::int64_t steps = 0;
  Schedule schedule;
};
/// One after the other, each counting from 0; the last goes on for ever.
[[nodiscard]] Schedule sequence(std::vector<Phase> phases);

/// The product.
[[nodiscard]] Schedule multiply(Schedule a, Schedule b);

}  // namespace schedules

}  // namespace stoker::nn
