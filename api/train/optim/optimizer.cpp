#include "stoker/api/train/optim/optimizer.hpp"

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/train/loop/learning_rate.hpp"
#include "stoker/api/train/optim/updates.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

/// An optimizer that still lacks what multiplies by the learning rate.
struct Recipe {
  double learning_rate;
  std::function<Update(const Update& rate)> compose;
};

ParamSpec real(const char* name, double fallback, const char* doc) {
  return {.name = name, .type = ParamType::real, .fallback = fallback, .doc = doc, .min = 0};
}
ParamSpec part(const char* name, double fallback, const char* doc) {
  ParamSpec spec = real(name, fallback, doc);
  spec.max = 1;
  return spec;
}
ParamSpec flag(const char* name, const char* doc) {
  return {.name = name, .type = ParamType::boolean, .fallback = false, .doc = doc};
}

std::vector<ParamSpec> with(std::vector<ParamSpec> options, std::vector<ParamSpec> more) {
  for (ParamSpec& one : more) options.push_back(std::move(one));
  return options;
}
std::vector<ParamSpec> rate(double fallback) {
  return {real("learning_rate", fallback, "of a step, unless there is a schedule")};
}
std::vector<ParamSpec> with_moments(double learning_rate, double eps, double eps_root) {
  return with(rate(learning_rate), {part("b1", 0.9, "decay of the mean of gradients"),
                                    part("b2", 0.999, "decay of the mean of their squares"),
                                    real("eps", eps, "added to the root"),
                                    real("eps_root", eps_root, "added inside the root")});
}
std::vector<ParamSpec> with_momentum(double learning_rate) {
  return with(rate(learning_rate), {part("momentum", 0, "decay of the trace; 0: none"),
                                    flag("nesterov", "looks one step of the trace ahead")});
}

updates::Moments moments(const ParamSet& options) {
  return {options.real("b1"), options.real("b2"), options.real("eps"), options.real("eps_root")};
}

Recipe recipe(const ParamSet& options, std::vector<Update> before, std::vector<Update> after = {}) {
  return {options.real("learning_rate"),
          [before = std::move(before), after = std::move(after)](const Update& by_rate) {
            std::vector<Update> parts = before;
            parts.push_back(by_rate);
            parts.insert(parts.end(), after.begin(), after.end());
            return chain(std::move(parts));
          }};
}

/// A trace if there is momentum.
std::vector<Update> momentum(const ParamSet& options) {
  const double decay = options.real("momentum");
  if (decay == 0) return {};
  return {updates::trace({.decay = decay, .nesterov = options.flag("nesterov")})};
}

Recipe sgd(const ParamSet& options) { return recipe(options, momentum(options)); }

Recipe adam(const ParamSet& options) {
  return recipe(options, {updates::scale_by_adam(moments(options))});
}

Recipe adamw(const ParamSet& options) {
  return recipe(options, {updates::scale_by_adam(moments(options)),
                          updates::add_decayed_weights(options.real("decay"))});
}

Recipe adabelief(const ParamSet& options) {
  return recipe(options, {updates::scale_by_belief(moments(options))});
}

Recipe adagrad(const ParamSet& options) {
  return recipe(options, {updates::scale_by_rss(options.real("initial_accumulator_value"),
                                                options.real("eps"))});
}

Recipe lamb(const ParamSet& options) {
  return recipe(options, {updates::scale_by_adam(moments(options)),
                          updates::add_decayed_weights(options.real("decay")),
                          updates::scale_by_trust_ratio({.min_norm = options.real("min_norm")})});
}

Recipe noisy_sgd(const ParamSet& options) {
  return recipe(
      options, {},
      {updates::add_noise({.eta = options.real("eta"),
                           .gamma = options.real("gamma"),
                           .seed = static_cast<std::uint64_t>(options.integer("seed"))})});
}

Recipe radam(const ParamSet& options) {
  return recipe(options, {updates::scale_by_radam(moments(options), options.real("threshold"))});
}

Recipe rmsprop(const ParamSet& options) {
  const updates::Rms rms{options.real("decay"), options.real("eps"), options.real("initial_scale")};
  return recipe(
      options,
      {options.flag("centered") ? updates::scale_by_stddev(rms) : updates::scale_by_rms(rms)},
      momentum(options));
}

Recipe yogi(const ParamSet& options) {
  return recipe(options, {updates::scale_by_yogi(moments(options),
                                                 options.real("initial_accumulator_value"))});
}

const NamedTable<Recipe>& table() {
  static constinit NeverDestroyed<NamedTable<Recipe>> made;
  return made.get([] {
    const ParamSpec decay = real("decay", 0, "of weights, times the learning rate");
    const ParamSpec initial = real("initial_accumulator_value", 0, "of the moments");
    return NamedTable<Recipe>{
        "optimizer",
        {{"sgd", with_momentum(1e-2), sgd},
         {"adam", with_moments(1e-3, 1e-8, 1e-15), adam},
         {"adamw", with(with_moments(1e-3, 1e-8, 0), {decay}), adamw},
         {"adabelief", with_moments(1e-3, 0, 1e-16), adabelief},
         {"adagrad",
          with(rate(1e-3), {real("eps", 1e-7, "added inside the root"),
                            real("initial_accumulator_value", 0.1, "of the sum of squares")}),
          adagrad},
         {"lamb",
          with(with_moments(1e-2, 1e-8, 0),
               {decay, real("min_norm", 0, "the least that a norm is")}),
          lamb},
         {"noisy_sgd",
          with(rate(1e-2), {real("eta", 0.1, "deviation of the noise at the first step"),
                            real("gamma", 0.55, "how fast it falls"),
                            {.name = "seed",
                             .type = ParamType::integer,
                             .fallback = std::int64_t{0},
                             .doc = "of the noise",
                             .min = 0}}),
          noisy_sgd},
         {"radam",
          with(with_moments(1e-3, 1e-8, 0),
               {real("threshold", 5, "length of the average below which it is momentum")}),
          radam},
         {"rmsprop",
          with(with_momentum(1e-2), {flag("centered", "by the deviation instead of the root mean"),
                                     real("initial_scale", 0, "of the mean of squares"),
                                     part("decay", 0.9, "of the mean of squares"),
                                     real("eps", 1e-8, "added inside the root")}),
          rmsprop},
         {"yogi", with(with_moments(1e-2, 1e-8, 0), {initial}), yogi}}};
  });
}

void check_above_0(const char* name, double value) {
  if (value > 0) return;
  throw Error{"training_optimizer",
              ErrorCode::invalid_parameter,
              "expected '" + std::string{name} + "' above 0, got " + std::to_string(value),
              {{"parameter", name}, {"got", std::to_string(value)}}};
}

}  // namespace

Optimizer optimizer(const Named& wanted, Schedule learning_rate) {
  const Recipe recipe = table().make(wanted);
  return {wanted.text(),
          recipe.compose(learning_rate ? updates::scale_by_learning_rate(std::move(learning_rate))
                                       : updates::scale_by_learning_rate(recipe.learning_rate))};
}

double own_learning_rate(const Named& wanted) { return table().make(wanted).learning_rate; }

Optimizer training_optimizer(const Named& wanted, const TrainingOptions& options) {
  Optimizer made = optimizer(wanted, options.schedule);
  std::vector<Update> parts;
  if (options.weight_decay != 0)
    parts.push_back(updates::add_decayed_weights(options.weight_decay));
  if (options.clip_norm) {
    check_above_0("clip_norm", *options.clip_norm);
    parts.push_back(updates::clip_by_global_norm(*options.clip_norm, 1e-8));
  }
  if (options.clip_value) {
    check_above_0("clip_value", *options.clip_value);
    parts.push_back(updates::clip(*options.clip_value));
  }
  parts.push_back(std::move(made.update));
  made.update =
      updates::accumulate_gradients(options.accumulate_gradients, chain(std::move(parts)));
  return made;
}

Tensor learning_rate_scale(const Slots& slots) {
  return named_tensor(slots, updates::learning_rate_scale, "slot");
}

Slots with_learning_rate_scale(Slots slots, double scale) {
  (void)named_tensor(slots, updates::learning_rate_scale, "slot");
  if (!(scale >= 0))
    throw Error{"with_learning_rate_scale",
                ErrorCode::invalid_parameter,
                "expected a number of at least 0, got " + std::to_string(scale),
                {{"got", std::to_string(scale)}}};
  slots[updates::learning_rate_scale] = full({}, scale, DType::f32);
  return slots;
}

}  // namespace stoker::nn
