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

Schedule linear_decay(const schedules::LinearDecay& options) {
  const double value = options.value;
  const auto warmup = static_cast<double>(options.warmup);
  const auto steps = static_cast<double>(options.steps);
  return [=](const Tensor& step) {
    const Tensor t = as_real(step);
    const Tensor up = t / std::max(1.0, warmup);
    const Tensor down = max((steps - t) / std::max(1.0, steps - warmup), 0.0);
    return value * select(t < warmup, up, down);
  };
}

Schedule exponential_decay(const schedules::ExponentialDecay& options) {
  const double value = options.value;
  const double rate = options.decay_rate;
  const auto every = static_cast<double>(options.transition_steps);
  const auto begin = static_cast<double>(options.transition_begin);
  const bool staircase = options.staircase;
  return [=](const Tensor& step) {
    const Tensor passed = max(as_real(step) - begin, 0.0) / every;
    return value * pow(rate, staircase ? floor(passed) : passed);
  };
}

Schedule cosine_decay(const schedules::CosineDecay& options) {
  const double value = options.value;
  const auto steps = static_cast<double>(options.decay_steps);
  const double alpha = options.alpha;
  return [=](const Tensor& step) {
    return value * (half_wave(min(as_real(step), steps) / steps) + alpha);
  };
}

Schedule polynomial_decay(const schedules::PolynomialDecay& options) {
  const double value = options.value;
  const double end = options.end_value;
  const double power = options.power;
  const auto steps = static_cast<double>(options.transition_steps);
  const auto begin = static_cast<double>(options.transition_begin);
  return [=](const Tensor& step) {
    const Tensor left = 1 - clip(as_real(step) - begin, 0.0, steps) / steps;
    return (value - end) * pow(left, power) + end;
  };
}

/// Which epoch a step is in, from 0, as a float. Divided as integers: a float's quotient may round
/// up to the next whole number.
std::function<Tensor(const Tensor&)> epochs(std::int64_t steps) {
  return [steps](const Tensor& step) { return as_real(steps == 1 ? step : quotient(step, steps)); };
}

Schedule by_steps(const schedules::Step& options) {
  const double base = options.base;
  const std::int64_t size = options.size * options.steps_per_epoch;
  const double gamma = options.gamma;
  return [=](const Tensor& step) { return base * pow(gamma, as_real(quotient(step, size))); };
}

Schedule exponential(const schedules::Exponential& options) {
  const double base = options.base;
  const double gamma = options.gamma;
  return [=, epoch = epochs(options.steps_per_epoch)](const Tensor& step) {
    return base * pow(gamma, epoch(step));
  };
}

Schedule cosine(const schedules::Cosine& options) {
  const double base = options.base;
  const double least = options.min;
  // A single epoch is the first.
  const auto last = static_cast<double>(options.epochs - 1);
  if (last == 0) return schedule(base);
  return [=, epoch = epochs(options.steps_per_epoch)](const Tensor& step) {
    return least + (base - least) * half_wave(min(epoch(step), last) / last);
  };
}

using Table = NamedTable<Schedule>;

const Table& table() {
  static constinit NeverDestroyed<Table> made;
  return made.get([] {
    return Table{
        "schedule",
        {Table::entry<schedules::Constant>(
             "value", [](const schedules::Constant& o) { return schedule(o.value); }),
         Table::entry<schedules::LinearDecay>("value·t/warmup, then a straight line to 0",
                                              linear_decay),
         Table::entry<schedules::ExponentialDecay>(
             "value·decay_rate^(max(t - transition_begin, 0)/transition_steps)", exponential_decay),
         Table::entry<schedules::CosineDecay>(
             "value·((1 + cos(π·min(t/decay_steps, 1)))/2 + alpha)", cosine_decay),
         Table::entry<schedules::PolynomialDecay>(
             "(value - end_value)·(1 - n/transition_steps)^power + end_value, where n is t - "
             "transition_begin, limited to [0, transition_steps]",
             polynomial_decay),
         Table::entry<schedules::Step>("base·gamma^floor(e/size), where e is the epoch", by_steps),
         Table::entry<schedules::Exponential>("base·gamma^e, where e is the epoch", exponential),
         Table::entry<schedules::Cosine>(
             "min + (base - min)·(1 + cos(π·e/(epochs - 1)))/2, where e is the epoch; then min",
             cosine),
         Table::entry<schedules::Warmup>(
             "a straight line to the first value of another schedule, which then follows",
             [](const schedules::Warmup& o) {
               return schedules::warmup(o.steps, o.from, schedule(o.then));
             })}};
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

std::vector<NamedKind> schedule_kinds() { return table().kinds(); }

Schedule schedule(const ScheduleName& wanted) { return table().make(wanted); }

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
