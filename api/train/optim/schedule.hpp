// Numbers that change during training, such as learning rates.
//
//     Schedule rate = schedule(schedules::CosineDecay{.value = 0.1, .decay_steps = 1000});
//     Schedule warm = schedules::warmup(100, 0.0, rate);
//     Tensor now = warm(step);                             // f32[]
//
// A schedule maps the step, a scalar s32 counted from 0, to a scalar f32. It consists of tensor
// operations, so in a traced training step it becomes part of the program and needs no new trace.
//
// Formulas: Polaris (the first five schedules), ExBurn (the schedules by epoch); the cosine is
// SGDR's (Loshchilov and Hutter, arXiv:1608.03983).
//
// Pure functions; any thread. Errors are thrown: not_found for an unknown name, invalid_parameter
// for options out of range, invalid_argument for an empty schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/api/nn/graph/choice.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

using Schedule = std::function<Tensor(const Tensor& step)>;

using ScheduleName = Choice<struct ScheduleFamily>;
[[nodiscard]] Schedule schedule(const ScheduleName& wanted);
/// All schedules, in the order of the table.
[[nodiscard]] std::vector<NamedKind> schedule_kinds();
/// A constant schedule.
[[nodiscard]] Schedule schedule(double value);

namespace schedules {

// Below, t is the step.

/// value.
struct Constant {
  using Family = ScheduleName;
  static constexpr const char* kind = "constant";
  Required<double> value = {};
};
template <class O, class V> void visit_value(O& o, V&& visit) {
  visit("value", o.value, anything, "learning rate from which it falls");
}
template <class V> void visit_options(Constant& o, V&& visit) {
  visit("value", o.value, anything, "learning rate of every step");
}

/// value·t/warmup, then value·(steps - t)/(steps - warmup), not below 0.
struct LinearDecay {
  using Family = ScheduleName;
  static constexpr const char* kind = "linear_decay";
  Required<double> value = {};
  std::int64_t warmup = 0;
  std::int64_t steps = 1000;
};
template <class V> void visit_options(LinearDecay& o, V&& visit) {
  visit_value(o, visit);
  visit("warmup", o.warmup, at_least(0), "number of steps of the rise");
  visit("steps", o.steps, at_least(1), "step at which it is 0");
}

/// value·decay_rate^((t - transition_begin)/transition_steps); staircase: the exponent rounded
/// down; `value` before transition_begin.
struct ExponentialDecay {
  using Family = ScheduleName;
  static constexpr const char* kind = "exponential_decay";
  Required<double> value = {};
  double decay_rate = 0.95;
  std::int64_t transition_steps = 10;
  std::int64_t transition_begin = 0;
  bool staircase = false;
};
template <class V> void visit_options(ExponentialDecay& o, V&& visit) {
  visit_value(o, visit);
  visit("decay_rate", o.decay_rate, at_least(0), "factor after transition_steps");
  visit("transition_steps", o.transition_steps, at_least(1), "steps for each factor of decay_rate");
  visit("transition_begin", o.transition_begin, at_least(0), "step at which the decay begins");
  visit("staircase", o.staircase, anything, "rounds the exponent down to an integer");
}

/// value·(½(1 + cos(π·min(t/decay_steps, 1))) + alpha).
struct CosineDecay {
  using Family = ScheduleName;
  static constexpr const char* kind = "cosine_decay";
  Required<double> value = {};
  std::int64_t decay_steps = 10;
  double alpha = 0;
};
template <class V> void visit_options(CosineDecay& o, V&& visit) {
  visit_value(o, visit);
  visit("decay_steps", o.decay_steps, at_least(1), "step of the last value");
  visit("alpha", o.alpha, anything, "added to the cosine's term");
}

/// (value - end_value)·(1 - (t - transition_begin)/transition_steps)^power + end_value.
struct PolynomialDecay {
  using Family = ScheduleName;
  static constexpr const char* kind = "polynomial_decay";
  Required<double> value = {};
  double end_value = 1e-3;
  double power = 2;
  std::int64_t transition_steps = 10;
  std::int64_t transition_begin = 0;
};
template <class V> void visit_options(PolynomialDecay& o, V&& visit) {
  visit_value(o, visit);
  visit("end_value", o.end_value, anything, "the last value");
  visit("power", o.power, at_least(0), "exponent");
  visit("transition_steps", o.transition_steps, at_least(1), "steps until the last value");
  visit("transition_begin", o.transition_begin, at_least(0), "step at which the decay begins");
}

// In the schedules by epoch, e = floor(t/steps_per_epoch); without steps_per_epoch, e is the step
// itself.

template <class O, class V> void visit_base(O& o, V&& visit) {
  visit("base", o.base, anything, "learning rate in the first epoch");
}
template <class O, class V> void visit_steps_per_epoch(O& o, V&& visit) {
  visit("steps_per_epoch", o.steps_per_epoch, at_least(1), "number of steps of an epoch");
}

/// base·gamma^floor(e/size).
struct Step {
  using Family = ScheduleName;
  static constexpr const char* kind = "step";
  Required<double> base = {};
  Required<std::int64_t> size = {};
  Required<double> gamma = {};
  std::int64_t steps_per_epoch = 1;
};
template <class V> void visit_options(Step& o, V&& visit) {
  visit_base(o, visit);
  visit("size", o.size, at_least(1), "epochs between drops");
  visit("gamma", o.gamma, at_least(0), "factor at each drop");
  visit_steps_per_epoch(o, visit);
}

/// base·gamma^e.
struct Exponential {
  using Family = ScheduleName;
  static constexpr const char* kind = "exponential";
  Required<double> base = {};
  Required<double> gamma = {};
  std::int64_t steps_per_epoch = 1;
};
template <class V> void visit_options(Exponential& o, V&& visit) {
  visit_base(o, visit);
  visit("gamma", o.gamma, at_least(0), "factor from one epoch to the next");
  visit_steps_per_epoch(o, visit);
}

/// min + ½(base - min)(1 + cos(π·e/(epochs - 1))), then min.
struct Cosine {
  using Family = ScheduleName;
  static constexpr const char* kind = "cosine";
  Required<double> base = {};
  double min = 0;
  Required<std::int64_t> epochs = {};
  std::int64_t steps_per_epoch = 1;
};
template <class V> void visit_options(Cosine& o, V&& visit) {
  visit_base(o, visit);
  visit("min", o.min, anything, "learning rate in the last epoch");
  visit("epochs", o.epochs, at_least(1), "number of epochs");
  visit_steps_per_epoch(o, visit);
}

/// warmup() before another schedule.
struct Warmup {
  using Family = ScheduleName;
  static constexpr const char* kind = "warmup";
  Required<std::int64_t> steps = {};
  double from = 0;
  Required<ScheduleName> then = {};
};
template <class V> void visit_options(Warmup& o, V&& visit) {
  visit("steps", o.steps, at_least(1), "number of steps of the rise");
  visit("from", o.from, anything, "the first value");
  visit("then", o.then, anything, "the schedule that follows");
}

/// Rises linearly from `from` to the first value of `then` over `steps` steps; then follows `then`,
/// which counts from 0.
[[nodiscard]] Schedule warmup(std::int64_t steps, double from, Schedule then);

/// A schedule and how many steps it lasts.
struct Phase {
  std::int64_t steps = 0;
  Schedule schedule;
};
/// Runs the phases in turn, each counting from 0; the last one never ends.
[[nodiscard]] Schedule sequence(std::vector<Phase> phases);

/// The product of two schedules.
[[nodiscard]] Schedule multiply(Schedule a, Schedule b);

}  // namespace schedules

}  // namespace stoker::nn
