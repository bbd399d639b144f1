#include "stoker/api/train/optim/schedule.hpp"

#include <algorithm>
#include <numbers>
#include <optional>

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

Tensor as_real(const Tensor& step) { return as_type(step, DType::f32); }

/// ½(1 + cos(π·x)).
Tensor half_wave(const Tensor& x) { return 0.5 * (1 + cos(std::numbers::pi * x)); }

Schedule linear_decay(const ParamSet& options) {
  const double value = options.real("value");
  const auto warmup = static_cast<double>(options.integer("warmup"));
  const auto steps = static_cast<double>(options.integer("steps"));
  return [=](const Tensor& step) {
    const Tensor t = as_real(step);
    const Tensor up = t / std::max(1.0, warmup);
    const Tensor down = max((steps - t) / std::max(1.0, steps - warmup), 0.0);
    return value * select(t < warmup, up, down);
  };
}

Schedule exponential_decay(const ParamSet& options) {
  const double value = options.real("value");
  const double rate = options.real("decay_rate");
  const auto every = static_cast<double>(options.integer("transition_steps"));
  const auto begin = static_cast<double>(options.integer("transition_begin"));
  const bool staircase = options.flag("staircase");
  return [=](const Tensor& step) {
    const Tensor passed = max(as_real(step) - begin, 0.0) / every;
    return value * pow(rate, staircase ? floor(passed) : passed);
  };
}

Schedule cosine_decay(const ParamSet& options) {
  const double value = options.real("value");
  const auto steps = static_cast<double>(options.integer("decay_steps"));
  const double alpha = options.real("alpha");
  return [=](const Tensor& step) {
    return value * (half_wave(min(as_real(step), steps) / steps) + alpha);
  };
}

Schedule polynomial_decay(const ParamSet& options) {
  const double value = options.real("value");
  const double end = options.real("end_value");
  const double power = options.real("power");
  const auto steps = static_cast<double>(options.integer("transition_steps"));
  const auto begin = static_cast<double>(options.integer("transition_begin"));
  return [=](const Tensor& step) {
    const Tensor left = 1 - clip(as_real(step) - begin, 0.0, steps) / steps;
    return (value - end) * pow(left, power) + end;
  };
}

/// Which epoch a step is in, from 0, as a float. Divided as integers: a float's quotient may round
/// up to the next whole number.
std::function<Tensor(const Tensor&)> epochs(const ParamSet& options) {
  const std::int64_t steps = options.integer("steps_per_epoch");
  return [steps](const Tensor& step) { return as_real(steps == 1 ? step : quotient(step, steps)); };
}

Schedule by_steps(const ParamSet& options) {
  const double base = options.real("base");
  const std::int64_t size = options.integer("size") * options.integer("steps_per_epoch");
  const double gamma = options.real("gamma");
  return [=](const Tensor& step) { return base * pow(gamma, as_real(quotient(step, size))); };
}

Schedule exponential(const ParamSet& options) {
  const double base = options.real("base");
  const double gamma = options.real("gamma");
  return
      [=, epoch = epochs(options)](const Tensor& step) { return base * pow(gamma, epoch(step)); };
}

Schedule cosine(const ParamSet& options) {
  const double base = options.real("base");
  const double least = options.real("min");
  // A single epoch is the first.
  const auto last = static_cast<double>(options.integer("epochs") - 1);
  if (last == 0) return schedule(base);
  return [=, epoch = epochs(options)](const Tensor& step) {
    return least + (base - least) * half_wave(min(epoch(step), last) / last);
  };
}

Schedule warmup_then(const ParamSet& options) {
  return schedules::warmup(options.integer("steps"), options.real("from"),
                           schedule(Named{options.text("then")}));
}

ParamSpec real(const char* name, const char* doc) {
  return {.name = name, .type = ParamType::real, .fallback = {}, .doc = doc};
}
ParamSpec real(const char* name, double fallback, const char* doc) {
  return {.name = name, .type = ParamType::real, .fallback = fallback, .doc = doc};
}
ParamSpec at_least_0(ParamSpec spec) {
  spec.min = 0;
  return spec;
}
/// Of at least `least`.
ParamSpec count(const char* name, std::optional<std::int64_t> fallback, double least,
                const char* doc) {
  return {.name = name,
          .type = ParamType::integer,
          .fallback = fallback ? std::optional<ParamValue>{*fallback} : std::nullopt,
          .doc = doc,
          .min = least};
}

const NamedTable<Schedule>& table() {
  static constinit NeverDestroyed<NamedTable<Schedule>> made;
  return made.get([] {
    const ParamSpec value = real("value", "the first value");
    const ParamSpec base = real("base", "in the first epoch");
    const ParamSpec begin = count("transition_begin", 0, 0, "step at which it begins");
    const ParamSpec per_epoch = count("steps_per_epoch", 1, 1, "steps of an epoch");
    return NamedTable<Schedule>{
        "schedule",
        {{"constant", {value}, [](const ParamSet& o) { return schedule(o.real("value")); }},
         {"linear_decay",
          {value, count("warmup", 0, 0, "steps on the way up"),
           count("steps", 1000, 1, "step at which it is 0")},
          linear_decay},
         {"exponential_decay",
          {value,
           at_least_0(real("decay_rate", 0.95, "what is left after transition_steps")),
           count("transition_steps", 10, 1, "steps for each power"),
           begin,
           {.name = "staircase",
            .type = ParamType::boolean,
            .fallback = false,
            .doc = "whole powers only"}},
          exponential_decay},
         {"cosine_decay",
          {value, count("decay_steps", 10, 1, "step of the last value"),
           real("alpha", 0.0, "added to the wave")},
          cosine_decay},
         {"polynomial_decay",
          {value, real("end_value", 1e-3, "the last value"),
           at_least_0(real("power", 2.0, "exponent")),
           count("transition_steps", 10, 1, "steps until the last value"), begin},
          polynomial_decay},
         {"step",
          {base, count("size", {}, 1, "epochs between drops"),
           at_least_0(real("gamma", "factor of a drop")), per_epoch},
          by_steps},
         {"exponential",
          {base, at_least_0(real("gamma", "factor of an epoch")), per_epoch},
          exponential},
         {"cosine",
          {base, real("min", 0.0, "in the last epoch"), count("epochs", {}, 1, "epochs in all"),
           per_epoch},
          cosine},
         {"warmup",
          {count("steps", {}, 1, "steps on the way up"),
           real("from", 0.0, "the first value"),
           {.name = "then",
            .type = ParamType::text,
            .fallback = {},
            .doc = "the schedule that follows"}},
          warmup_then}}};
  });
}

void check_given(const char* op, const Schedule& given) {
  if (!given) throw Error{op, ErrorCode::invalid_argument, "expected a schedule, got an empty one"};
}

void check_steps(const char* op, std::int64_t steps) {
  if (steps < 1)
    throw Error{op,
                ErrorCode::invalid_parameter,
                "expected at least 1 step, got " + std::to_string(steps),
                {{"steps", std::to_string(steps)}}};
}

}  // namespace

Schedule schedule(const Named& wanted) { return table().make(wanted); }

Schedule schedule(double value) {
  return [value](const Tensor&) { return full({}, value, DType::f32); };
}

namespace schedules {

Schedule warmup(std::int64_t steps, double from, Schedule then) {
  check_steps("warmup", steps);
  check_given("warmup", then);
  return [=, then = std::move(then)](const Tensor& step) {
    // While it warms up `then` stands at its first value, which is where the line goes.
    const Tensor value = then(max(step - steps, 0));
    const Tensor part = as_real(step) / static_cast<double>(steps);
    return select(step < steps, from + (value - from) * part, value);
  };
}

Schedule sequence(std::vector<Phase> phases) {
  if (phases.empty())
    throw Error{"sequence", ErrorCode::invalid_argument, "expected at least one schedule"};
  for (const Phase& phase : phases) {
    check_given("sequence", phase.schedule);
    if (&phase != &phases.back()) check_steps("sequence", phase.steps);
  }
  return [phases = std::move(phases)](const Tensor& step) {
    std::int64_t begin = 0;
    Tensor value = phases.front().schedule(step);
    for (std::size_t i = 1; i < phases.size(); ++i) {
      begin += phases[i - 1].steps;
      value = select(step < begin, value, phases[i].schedule(max(step - begin, 0)));
    }
    return value;
  };
}

Schedule multiply(Schedule a, Schedule b) {
  check_given("multiply", a);
  check_given("multiply", b);
  return [a = std::move(a), b = std::move(b)](const Tensor& step) { return a(step) * b(step); };
}

}  // namespace schedules

}  // namespace stoker::nn
